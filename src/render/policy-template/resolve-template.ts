// Tested by src/render/policy-template/policy-document.test.ts.
/** Resolves the Go templates of a policy: YAML in, JSON out. */
import { RE2JS } from 're2js'
import { goJson } from '../../yaml/go-json.ts'
import { readFirstYaml } from '../../yaml/read/read-yaml.ts'
import { writeYaml } from '../../yaml/write/write-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { executeTemplate } from '../gotemplate/exec.ts'
import { TemplateExecError } from '../gotemplate/exec-options.ts'
import type { GoFunction } from '../gotemplate/function.ts'
import { parseTemplate, TemplateParseError } from '../gotemplate/parse.ts'
import type { Tree } from '../gotemplate/parse.ts'
import { GoStruct, nilMap } from '../gotemplate/value.ts'
import type { Entropy } from '../helm/frozen-random.ts'
import { yamlSource } from '../helm/read-yaml.ts'
import { clusterLookup } from './cluster-lookup.ts'
import type { LookupScope } from './cluster-lookup.ts'
import { goMap } from './go-object.ts'
import { policyFunctions } from './template-functions.ts'

/** A template that cannot be resolved, in the words of Open Cluster Management. */
export class PolicyTemplateError extends Error {
  override readonly name = 'PolicyTemplateError'
}

/** What a template is resolved with. */
export interface TemplateSetting {
  readonly scope: LookupScope
  readonly entropy: Entropy
  /** What `.` is. */
  readonly context: GoStruct
  /** Hub templates stand in `{{hub` and `hub}}`. Defaults to `{{` and `}}`. */
  readonly side?: 'hub' | 'managed'
  /** Functions besides the usual functions. */
  readonly functions?: Readonly<Record<string, GoFunction>>
}

const DELIMITERS = {
  managed: { left: '{{', right: '}}' },
  hub: { left: '{{hub', right: 'hub}}' },
} as const

// Templates of the hub are resolved in the whole Policy, those of a cluster in a part of it that stands further left.
const HUB_INDENTATION = 8

/** Work and output of a template are limited, because its author may be less trusted than its reader. */
const MOST_STEPS = 1_000_000
const MOST_OUTPUT = 16 * 1024 * 1024

/** Resolves the templates in a JSON value. */
export function resolveValue(value: unknown, setting: TemplateSetting): unknown {
  const json = goJson(value)
  return resolve(jsonToYaml(json), json, setting)
}

/** Resolves a template that is YAML itself. */
export function resolveText(text: string, setting: TemplateSetting): unknown {
  return resolve(text, text, setting)
}

/** JSON as yaml.v3 prints it: keys in natural order, two spaces, lists indented. */
export function jsonToYaml(json: string): string {
  const { value } = readFirstYaml(json, {
    resolver: '1.2',
    integer: (whole) => whole,
    mappings: 'map',
    duplicateKeys: 'last',
  })
  return writeYaml(value, { style: 'v3' })
}

function resolve(yaml: string, raw: string, setting: TemplateSetting): unknown {
  const { scope, entropy, context, side = 'managed', functions: more = {} } = setting
  const indentation = side === 'hub' ? HUB_INDENTATION : 0
  const functions = policyFunctions({ lookup: clusterLookup(scope), entropy, indentation })
  for (const [name, fun] of Object.entries(more)) functions.set(name, fun)
  const delimiters = DELIMITERS[side]
  const text = withIndentation(withoutQuotes(yaml, delimiters), delimiters, indentation)
  const trees = parse(text, raw, { functions, side })
  return readResult(execute(trees, context, { functions, raw }))
}

function parse(
  text: string,
  raw: string,
  { functions, side }: { functions: ReadonlyMap<string, GoFunction>; side: 'hub' | 'managed' },
): Map<string, Tree> {
  try {
    return parseTemplate('tmpl', text, (name) => functions.has(name), DELIMITERS[side])
  } catch (caught) {
    if (!(caught instanceof TemplateParseError)) throw caught
    throw new PolicyTemplateError(`failed to parse the template JSON string ${raw}: ${caught.message}`)
  }
}

function execute(
  trees: ReadonlyMap<string, Tree>,
  context: GoStruct,
  { functions, raw }: { functions: ReadonlyMap<string, GoFunction>; raw: string },
): string {
  let steps = 0
  let written = 0
  try {
    return executeTemplate(trees.get('tmpl')!, context, {
      template: (name) => trees.get(name),
      functions,
      missingKey: 'invalid',
      step: () => {
        if (++steps > MOST_STEPS) throw new PolicyTemplateError(`the template takes more than ${MOST_STEPS} steps`)
      },
      wrote: (length) => {
        written += length
        if (written > MOST_OUTPUT)
          throw new PolicyTemplateError(`the template writes more than ${MOST_OUTPUT} characters`)
      },
    })
  } catch (caught) {
    if (!(caught instanceof TemplateExecError)) throw caught
    throw new PolicyTemplateError(`failed to resolve the template ${raw}: ${caught.message}`)
  }
}

function readResult(text: string): unknown {
  try {
    const { value } = readFirstYaml(yamlSource(text), { resolver: '1.2' })
    return JSON.parse(goJson(value)) as unknown
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    throw new PolicyTemplateError(`failed to convert the resolved template to JSON: ${caught.goMessage}`)
  }
}

interface Pair {
  readonly left: string
  readonly right: string
}

const compiled = new Map<string, RE2JS>()

function pattern(source: string): RE2JS {
  const known = compiled.get(source)
  if (known) return known
  const regex = RE2JS.compile(source)
  compiled.set(source, regex)
  return regex
}

/** The text with the quotes around templates removed whose result is a number, a boolean, a literal or a mapping. */
function withoutQuotes(text: string, { left, right }: Pair): string {
  if (!/toInt|toBool|toLiteral|copyConfigMapData|copySecretData/.test(text)) return text
  const [open, close] = [RE2JS.quote(left), RE2JS.quote(right)]
  const regex = pattern(
    `:\\s+(?:[\\|>]-?\\s+)?(?:'?\\s*)(${open}-?(?:.*\\|\\s*(?:toInt|toBool|toLiteral)|(?:.*(?:copyConfigMapData|copySecretData))).*${close})(?:\\s*'?)`,
  )
  const matcher = regex.matcher(text)
  let out = ''
  let last = 0
  while (matcher.find()) {
    out += `${text.slice(last, matcher.start())}: ${matcher.group(1)}`
    last = matcher.end()
  }
  return out + text.slice(last)
}

/** The text with each `autoindent` replaced by an `indent` of the spaces before its action. */
function withIndentation(text: string, { left, right }: Pair, indentation: number): string {
  if (!text.includes('autoindent')) return text
  const regex = pattern(`( *)(?:'|")?(${RE2JS.quote(left)}.*\\| *autoindent *-?${RE2JS.quote(right)})`)
  const matcher = regex.matcher(text)
  let out = text
  while (matcher.find()) {
    const action = matcher.group(2)!
    const spaces = matcher.group(1)!.length - indentation
    const replaced = action.replace('autoindent', () => `indent ${spaces}`)
    out = out.replace(action, () => replaced)
  }
  return out
}

/** What `.` is in templates of a cluster. */
export function managedContext(object: { readonly name: string; readonly namespace: string }): GoStruct {
  return new GoStruct('templates.TemplateContext', [
    ['ObjectNamespace', object.namespace],
    ['ObjectName', object.name],
  ])
}

/** An object that templates are resolved for. */
export interface TemplateTarget {
  readonly name: string
  readonly namespace: string
  /** The existing object, if it is there and read. */
  readonly object?: Record<string, unknown>
  /** Gives all fields, also empty fields. */
  readonly isWhole?: boolean
}

/** What `.` is while a policy is evaluated: only the fields that are known. */
export function objectContext(target: TemplateTarget | undefined): GoStruct {
  const fields: [name: string, type: string, value: unknown][] = []
  if (target && (target.name !== '' || target.isWhole)) {
    fields.push(['Object', 'map[string]interface {}', target.object ? goMap(target.object) : nilMap()])
  }
  if (target && (target.namespace !== '' || target.isWhole))
    fields.push(['ObjectNamespace', 'string', target.namespace])
  if (target && (target.name !== '' || target.isWhole)) fields.push(['ObjectName', 'string', target.name])
  const type =
    fields.length === 0 ? 'struct {}' : `struct { ${fields.map(([name, of]) => `${name} ${of}`).join('; ')} }`
  return new GoStruct(
    type,
    fields.map(([name, , value]) => [name, value] as const),
  )
}
