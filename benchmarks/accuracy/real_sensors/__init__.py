"""Sensors and arms with the errors of real ones: are estimates right, and intervals true?"""
