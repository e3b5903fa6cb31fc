"""Broken inputs by the thousand: ``python -m tests.fuzz [KIND …] [--cases N] [--first A]``.

Each kind of file or request that people can give is changed at random or made up, and given to the
code that reads it. An answer is right if it is a result or a refusal of one sentence, in less than
two seconds of processor time, without a growth of memory over 200 MB, and if nothing was written.
A case is made from its kind and number alone, so a number that is reported can be run again.
"""
