"""Recalls as the public evaluation code of VSE++ and of SCAN computes them, in its steps.

VSE++ (github.com/fartashf/vsepp, evaluation.py) takes embeddings with five copies of each image, SCAN
(github.com/kuanghuei/SCAN, evaluation.py) a matrix of scores. Both give R@1, R@5, R@10, Med r and Mean r.
"""

import numpy as np


def i2t_of_vsepp(images, captions, measure="cosine"):
    """Images (5N, K), captions (5N, K)."""
    ranks = np.zeros(len(images) // 5)
    for index in range(len(ranks)):
        image = images[5 * index]
        order = -np.sqrt(np.square(np.clip(captions - image, 0, None)).sum(axis=1))
        ranks[index] = _best_of_five(order if measure == "order" else captions @ image, index)
    return _recalls(ranks)


def t2i_of_vsepp(images, captions, measure="cosine"):
    """Images (5N, K), captions (5N, K)."""
    distinct = images[::5]
    ranks = np.zeros(len(captions))
    for index, caption in enumerate(captions):
        order = -np.sqrt(np.square(np.clip(caption - distinct, 0, None)).sum(axis=1))
        ranks[index] = _place(order if measure == "order" else distinct @ caption, index // 5)
    return _recalls(ranks)


def i2t_of_scan(sims):
    """Scores (N, 5N) of images with captions."""
    return _recalls(np.array([_best_of_five(sims[index], index) for index in range(len(sims))]))


def t2i_of_scan(sims):
    """Scores (N, 5N) of images with captions."""
    sims = sims.T
    ranks = np.zeros(len(sims))
    for index in range(len(sims) // 5):
        for caption in range(5):
            ranks[5 * index + caption] = _place(sims[5 * index + caption], index)
    return _recalls(ranks)


def _best_of_five(scores, index):
    inds = np.argsort(scores)[::-1]
    return min(np.where(inds == caption)[0][0] for caption in range(5 * index, 5 * index + 5))


def _place(scores, index):
    return np.where(np.argsort(scores)[::-1] == index)[0][0]


def _recalls(ranks):
    r1, r5, r10 = (100.0 * len(np.where(ranks < k)[0]) / len(ranks) for k in (1, 5, 10))
    return r1, r5, r10, np.floor(np.median(ranks)) + 1, ranks.mean() + 1
