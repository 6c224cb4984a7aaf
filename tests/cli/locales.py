"""Compiles locales into a folder, so that they need not be installed: when the tests are built, since each takes a second of the processor.

    locales.py FOLDER LANGUAGE…

The folder stays empty where there is no localedef.
"""
import os
import shutil
import subprocess
import sys

folder, *languages = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
for language in languages if shutil.which("localedef") else []:
    # It ends with 1 for what it only warns of.
    subprocess.run(["localedef", "-i", language, "-f", "UTF-8", os.path.join(folder, language + ".UTF-8")], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
