/** Scripts in a subset of Lua 5.1, as gopher-lua runs it: compile once, run often within limits. */
import type { LuaFunction, LuaLimits, LuaValue } from './run/values.ts'
import { toError } from '../core/errors.ts'
import { compileBlock } from './run/compile.ts'
import type { Execute, Machine } from './run/compile.ts'
import { fromJson, toByteString, toJson, fromByteString } from './run/convert-json.ts'
import { Scope } from './run/scope.ts'
import { Budget, LuaError, LuaLimitExceeded, LuaTable, toText } from './run/values.ts'
import { bindNatives } from './library/arguments.ts'
import { BASE } from './library/base.ts'
import { STRING } from './library/strings.ts'
import { MATH, MATH_CONSTANTS, TABLE } from './library/tables.ts'
import { LuaSyntaxError } from './syntax/lexer.ts'
import { parseScript } from './syntax/parser.ts'

/** A script that can run. */
export interface LuaScript {
  readonly ok: true
  /** Runs the script with global variables, and returns what the script returns as JSON; nil is null. */
  run(globals: Readonly<Record<string, unknown>>, limits?: LuaLimits): LuaResult
  /** Runs the script, and then calls one of its global functions. */
  call(name: string, args: readonly unknown[], limits?: LuaLimits): LuaResult
}

/** Why a script cannot run: its line, and the part that is wrong or not available. */
export interface LuaProblem {
  readonly ok: false
  readonly problem: string
}

/** The values that a script returned, or the error that ended it. */
export type LuaResult =
  | { readonly ok: true; readonly values: readonly unknown[] }
  | { readonly ok: false; readonly error: string }

/** Characters of the longest script. */
const MAX_SCRIPT = 32_768

/** What a run may use, unless the caller decides otherwise: some 20 ms on an old machine. */
const LIMITS: LuaLimits = { steps: 400_000, memory: 2_000_000, depth: 150 }

/** Parts of Lua that reach the process, the clock or chance, or that change what operators do. */
const NOT_AVAILABLE = new Set([
  '_G',
  'collectgarbage',
  'coroutine',
  'debug',
  'dofile',
  'getfenv',
  'getmetatable',
  'io',
  'load',
  'loadfile',
  'loadstring',
  'module',
  'newproxy',
  'os',
  'package',
  'require',
  'setfenv',
  'setmetatable',
])

const LIBRARIES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['string', new Set(Object.keys(STRING))],
  ['table', new Set(Object.keys(TABLE))],
  ['math', new Set([...Object.keys(MATH), ...MATH_CONSTANTS.map(([name]) => name)])],
])

/** Compiles a script. Parts of Lua that are not available are refused by name, before the script runs. */
export function compileLua(source: string): LuaScript | LuaProblem {
  if (source.length > MAX_SCRIPT) {
    return { ok: false, problem: `the script has ${source.length} characters; at most ${MAX_SCRIPT} are read` }
  }
  try {
    const script = compileBlock(parseScript(toByteString(source)), createScope())
    return {
      ok: true,
      run: (globals, limits = LIMITS) =>
        guarded(() => {
          const machine = createMachine(globals, limits)
          return execute(script, machine).map((value) => toJson(value, machine.budget))
        }),
      call: (name, args, limits = LIMITS) =>
        guarded(() => {
          const machine = createMachine({}, limits)
          execute(script, machine)
          const called = machine.globals.get(name)
          if (typeof called !== 'object' || called instanceof LuaTable) {
            throw new LuaError(`the script has no function ${name}`)
          }
          return machine.budget
            .nested(() => called.call(args.map((one) => fromJson(one))))
            .map((value) => toJson(value, machine.budget))
        }),
    }
  } catch (caught) {
    if (caught instanceof LuaSyntaxError) return { ok: false, problem: fromByteString(caught.message) }
    if (caught instanceof RangeError) return { ok: false, problem: 'an expression of the script is too long' }
    throw caught
  }
}

function createScope(): Scope {
  return new Scope((name, field, line) => {
    if (NOT_AVAILABLE.has(name)) throw new LuaSyntaxError(line, `${name} is not available`)
    const library = LIBRARIES.get(name)
    if (field !== undefined && library && !library.has(field)) {
      throw new LuaSyntaxError(line, `${name}.${field} is not available`)
    }
  })
}

function execute(script: Execute, machine: Machine): readonly LuaValue[] {
  const outcome = script({ cells: [], captured: [], varargs: [] }, machine)
  return Array.isArray(outcome) ? (outcome as readonly LuaValue[]) : []
}

function createMachine(given: Readonly<Record<string, unknown>>, limits: LuaLimits): Machine {
  const budget = new Budget(limits)
  const strings = tableOf(bindNatives(STRING, 'string.', budget))
  const globals = new Map<string, LuaValue>([
    ...bindNatives(BASE, '', budget),
    ['string', strings],
    ['table', tableOf(bindNatives(TABLE, 'table.', budget))],
    ['math', tableOf([...bindNatives(MATH, 'math.', budget), ...MATH_CONSTANTS])],
    ['_VERSION', 'Lua 5.1'],
  ])
  for (const [name, value] of Object.entries(given)) globals.set(name, fromJson(value))
  return { globals, strings, budget }
}

function tableOf(entries: readonly (readonly [string, LuaFunction | number])[]): LuaTable {
  const table = new LuaTable()
  for (const [name, value] of entries) table.set(name, value)
  return table
}

function guarded(run: () => readonly unknown[]): LuaResult {
  try {
    return { ok: true, values: run() }
  } catch (caught) {
    if (caught instanceof LuaError) return { ok: false, error: fromByteString(toText(caught.value)) }
    if (caught instanceof LuaLimitExceeded) return { ok: false, error: toError(caught).message }
    // Node's own stack ends before a deep expression does.
    if (caught instanceof RangeError) return { ok: false, error: 'the script calls functions too deeply' }
    throw caught
  }
}
