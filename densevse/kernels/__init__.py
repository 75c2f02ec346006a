"""The costly parts of the equations of `densevse/methods`, fast; `definitions` says plainly what each computes."""
