# SPDX-License-Identifier: MIT
"""What Python's Jinja2 makes of templates of our own: writes cases.json beside this file.

    python3 tests/jest/jinja/generate.py

Needs jinja2 3.1 (Debian: python3-jinja2). The environment is set up as Hugging Face transformers sets it up for chat
templates. The tests only read cases.json. A case is { template, variables?, expected } or { template, error: true }.
"""

import json
import pathlib
import warnings
from datetime import datetime

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from random_templates import is_comparable, random_templates
from templates import EXPRESSIONS, TEMPLATES, VARIABLES

NOW = datetime(2026, 1, 5, 15, 4, 9)


class Generation(Extension):
    """{% generation %} as transformers has it, without its bookkeeping."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_text"), [], [], body).set_lineno(line)

    def _text(self, caller):
        return caller()


def raise_exception(message):
    raise TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation]
    )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


def case(env, template):
    # Through JSON, as a caller's values come.
    variables = json.loads(json.dumps(VARIABLES))
    try:
        return {"template": template, "expected": env.from_string(template).render(**variables)}
    except Exception:
        return {"template": template, "error": True}


def main():
    warnings.simplefilter("ignore", SyntaxWarning)
    env = environment()
    templates = ["{{ " + expression + " }}" for expression in EXPRESSIONS] + TEMPLATES
    assert len(set(templates)) == len(templates), [t for t in templates if templates.count(t) > 1]
    cases = [case(env, template) for template in templates]
    drawn = [case(env, template) for template in dict.fromkeys(random_templates(600, seed=6))]
    cases += [one for one in drawn if is_comparable(one)]
    failing = sum("error" in one for one in cases)
    print(f"{len(cases)} cases, {failing} of them errors")
    file = pathlib.Path(__file__).with_name("cases.json")
    body = ",\n".join(json.dumps(one, ensure_ascii=True) for one in cases)
    file.write_text('{"variables": ' + json.dumps(VARIABLES) + ',\n"cases": [\n' + body + "\n]}\n")


main()
