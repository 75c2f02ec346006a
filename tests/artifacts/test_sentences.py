"""One form of sentences for readers, given texts and searches."""

import pandas as pd
import pytest

from densevse.artifacts.sentences import clean_sentence, find_lists


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("A dog <i>runs</i> over the grass .", "A dog runs over the grass ."),
        ("A <font color='red'>red</font> ball.", "A red ball."),
        ("A man & his dog<br>on a beach", "A man & his dog on a beach"),
        ("A man &amp; his dog", "A man & his dog"),
        ("&quot;Stop&quot; &#39;n&#x27; go", "\"Stop\" 'n' go"),
        ("one &amp;amp; two", "one &amp; two"),
        ("a &lt;b&gt; that stays", "a <b> that stays"),
        ("  two\nlines \r\n", "two lines"),
        ('A <del>cat</del> <ins>dog</ins><!-- or two --><img src="a.jpg"> .', "A cat dog ."),
    ],
)
def test_tags_and_entities_of_html_leave_their_text_once(text, clean):
    assert clean_sentence(text) == clean


@pytest.mark.parametrize(
    "text",
    ["a < b and c > d", "I <3 it", "<PERSON> walks", "an <unk> dog", "AT&T; and R&B", "a dog  runs", "1 &notaword; 2"],
)
def test_what_is_no_html_stays(text):
    assert clean_sentence(text) == text


@pytest.mark.parametrize(
    ("text", "is_list"),
    [
        ("['A little old lady', 'An Asian woman']", True),
        ('["A dog."]', True),
        ("('A dog', 'a cat')", True),
        ("[1] A dog's 'friend'", False),
        ("A sign: ['no entry']", False),
        ("(two dogs)", False),
        ("[['A dog'], ['a cat']]", True),
        ('["A dog", null]', True),
        ('[{"raw": "A dog"}]', True),
        ("[u'A dog', b'a cat']", True),
        ("['A dog' 'a cat']", True),
        ("(['A dog'])", True),
        ("('A dog',)", True),
        ("[]", True),
        ('("Happy Birthday")', False),
        ('("Stop") sign and ("Go")', False),
        ("[laughs]", False),
        ("[1]", False),
        ("[" + 100_000 * " ", False),
        ("[ " * 50_000, False),
        ("('" * 50_000, False),
        ("'quoted'", False),
    ],
)
def test_a_list_written_as_text_is_found(text, is_list):
    (found,) = find_lists(pd.DataFrame({"text": [text, "a dog"]})).values()
    assert found.tolist() == [is_list, False]
