"""What the chapters of the page "Learn" say and show of a recorded run: numbers, pictures, answers.

Nothing here is a sentence: the words are in ``assets/learn``, one file per language.
"""
