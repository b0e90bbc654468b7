"""Runs one program of a model, with the variables of the program before it. Runs only in the box: see box.ts."""
import ast
import builtins
import importlib
import io
import json
import linecache
import os
import pickle
import sys
import traceback
import types

folder = '/run/parley'
program_name = '<program>'
skipped_names = frozenset(('In', 'Out', '_'))


def read(name, default=b''):
    try:
        with open(f'{folder}/{name}', 'rb') as file:
            return file.read()
    except OSError:
        return default


def write(name, data):
    with open(f'{folder}/{name}', 'wb') as file:
        file.write(data)


def restore(module, lost):
    """Brings back what `keep` wrote: modules, definitions, then values, then definitions that need the values."""
    data = read('state')
    if not data:
        return []
    values = module.__dict__
    state = pickle.loads(data)
    for name, origin in state['modules'].items():
        try:
            values[name] = importlib.import_module(origin)
        except BaseException:
            lost.append(name)
    waiting = [each for each in state['definitions'] if not define(each, values)]
    try:
        values.update(pickle.loads(state['values']))
    except BaseException:
        lost.append('all values')
    lost.extend(name for name, source in waiting if not define((name, source), values))
    return state['definitions']


def define(definition, values):
    try:
        exec(compile(definition[1], program_name, 'exec'), values)
        return True
    except BaseException:
        return False


def definitions_of(tree, source):
    found = []
    for node in tree.body if tree is not None else []:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            lines = source.splitlines(keepends=True)
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found.append((node.name, ''.join(lines[first - 1:node.end_lineno])))
    return found


def keep(module, definitions, size_max, lost):
    """Writes modules, definitions and every value that can be pickled. Names the others."""
    values = dict(module.__dict__)
    modules, kept, sizes = {}, {}, {}
    current = {name: source for name, source in definitions}
    for name, value in values.items():
        if name.startswith('__') or name in skipped_names:
            continue
        if isinstance(value, types.ModuleType):
            modules[name] = value.__name__
            continue
        is_own = getattr(value, '__module__', None) == '__main__'
        if name in current and is_own and isinstance(value, (types.FunctionType, type)):
            continue
        try:
            sizes[name] = len(pickle.dumps(value, protocol=5))
            kept[name] = value
        except BaseException:
            lost.append(name)
    definitions = [(name, source) for name, source in current.items() if name in values]
    while True:
        try:
            data = pickle.dumps(
                {'modules': modules, 'definitions': definitions, 'values': pickle.dumps(kept, protocol=5)}, protocol=5
            )
        except BaseException:
            data, kept = b'', {}
        if len(data) <= size_max or not kept:
            break
        largest = max(kept, key=sizes.get)
        del kept[largest]
        lost.append(f'{largest} (too large)')
    write('state.new', data if len(data) <= size_max else b'')


def run(module, source):
    """Runs the program; the value of a last expression is shown, as in a notebook. Returns the tree and the exit code."""
    tree = None
    try:
        tree = ast.parse(source, program_name)
        values = module.__dict__
        body = list(tree.body)
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body=body, type_ignores=[]), program_name, 'exec'), values)
        if last is not None:
            shown = eval(compile(ast.Expression(body=last.value), program_name, 'eval'), values)
            if shown is not None:
                print(repr(shown))
        return tree, 0
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return tree, error.code or 0
        print(error.code, file=sys.stderr)
        return tree, 1
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != program_name:
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace)
        return tree, 1


def main():
    limits = json.loads(read('limits.json', b'{}'))
    os.environ.pop('_', None)
    sys.argv = ['']
    sys.path[:] = ['/host/workspace', f'/host{folder}/lib', *(path for path in sys.path if path != '/tmp')]
    sys.dont_write_bytecode = True
    module = types.ModuleType('__main__')
    module.__dict__['__builtins__'] = builtins
    sys.modules['__main__'] = module
    forgotten, lost = [], []
    before = restore(module, forgotten)
    source = read('code.py').decode('utf-8', 'replace')
    linecache.cache[program_name] = (len(source), None, source.splitlines(keepends=True), program_name)
    tree, code = run(module, source)
    if not isinstance(sys.stdout, io.TextIOBase) or sys.stdout.closed:
        sys.stdout = sys.__stdout__
    keep(module, [*before, *definitions_of(tree, source)], int(limits.get('stateMaxBytes', 0)), lost)
    notes = {'forgotten': [str(name)[:100] for name in forgotten[:50]], 'lost': [str(name)[:100] for name in lost[:50]]}
    write('notes.json', json.dumps(notes).encode())
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(code)


main()
