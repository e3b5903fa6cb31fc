"""The page's parts that know Gradio; ``app.py`` puts them together. Importing them loads no
model.
"""
