"""Questionnaires for people: one HTML file a participant, made from items, read back as one form.

`python -m tomlab.questionnaire` makes and reads them; docs/questionnaire.md says how. The page is
`questionnaire.html`: it needs no server, loads nothing and gives its answers back as a CSV.
"""
