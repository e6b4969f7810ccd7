// Tested by src/render/policy-template/policy-document.test.ts.
/** The functions of templates in a policy: Sprig's, and functions that read the cluster or convert values. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { goJson } from '../../yaml/go-json.ts'
import { readFirstYaml } from '../../yaml/read/read-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { GoError, goFunction } from '../gotemplate/function.ts'
import type { GoFunction } from '../gotemplate/function.ts'
import { formatValue } from '../gotemplate/format.ts'
import { goInt, nilMap } from '../gotemplate/value.ts'
import type { GoInt } from '../gotemplate/value.ts'
import { RandomDraws } from '../helm/frozen-random.ts'
import type { Entropy } from '../helm/frozen-random.ts'
import { toInt64 } from '../helm/functions/convert.ts'
import { helmFunctions } from '../helm/functions/helm-functions.ts'
import { mustToYaml } from '../helm/functions/yaml.ts'
import { HELM_4 } from '../helm/profile.ts'
import { yamlSource } from '../helm/read-yaml.ts'
import { MissingObjectError } from './cluster-lookup.ts'
import type { ClusterLookup } from './cluster-lookup.ts'
import { goMap } from './go-object.ts'

// Helm has these besides Sprig.
const HELM_ALONE = ['toYamlPretty', 'mustToYaml', 'toToml', 'mustToToml', 'fromToml', 'fromYamlArray', 'fromJsonArray']

/** Both show the environment of the process that resolves the template. */
export const DENIED = ['env', 'expandenv']

const ROLE = 'node-role.kubernetes.io/'
const CLAIM = { apiVersion: 'cluster.open-cluster-management.io/v1alpha1', kind: 'ClusterClaim', namespace: '' }

/** What the functions of a template depend on. */
export interface FunctionInputs {
  readonly lookup: ClusterLookup
  readonly entropy: Entropy
  /** Added to the argument of `indent`. */
  readonly indentation: number
}

/** All functions by name. */
export function policyFunctions({ lookup, entropy, indentation }: FunctionInputs): Map<string, GoFunction> {
  const functions = sprigFunctions(entropy)
  const own: Record<string, GoFunction> = {
    ...conversionFunctions(functions, indentation),
    ...dataFunctions(lookup),
    ...objectFunctions(lookup),
  }
  for (const [name, fun] of Object.entries(own)) functions.set(name, fun)
  return functions
}

/** Sprig's functions, except functions that show the environment. */
export function sprigFunctions(entropy: Entropy): Map<string, GoFunction> {
  const functions = helmFunctions({ profile: HELM_4, draws: new RandomDraws(entropy), lookUp: () => undefined })
  for (const name of HELM_ALONE) functions.delete(name)
  const mustFromJson = functions.get('mustFromJson')!
  functions.set('fromJson', { ...mustFromJson, call: (args) => orNothing(() => mustFromJson.call(args)) })
  functions.set(
    'hello',
    goFunction([], () => 'Hello!'),
  )
  for (const name of DENIED) {
    functions.set(
      name,
      goFunction(
        [],
        () => {
          throw new GoError(`use of denylisted template function: function '${name}' is considered a security risk`)
        },
        'any',
      ),
    )
  }
  return functions
}

function orNothing(read: () => unknown): unknown {
  try {
    return read()
  } catch (caught) {
    if (caught instanceof GoError) return null
    throw caught
  }
}

function conversionFunctions(sprig: ReadonlyMap<string, GoFunction>, indentation: number): Record<string, GoFunction> {
  const toYaml = goFunction(['any'], ([value]) => mustToYaml(value, 'v3'))
  const fromYaml = goFunction(['string'], ([text]) => readGoYaml(text as string))
  return {
    base64enc: sprig.get('b64enc')!,
    base64dec: sprig.get('b64dec')!,
    fromJSON: sprig.get('fromJson')!,
    mustFromJSON: sprig.get('mustFromJson')!,
    toJSON: sprig.get('toJson')!,
    mustToJSON: sprig.get('mustToJson')!,
    toRawJSON: sprig.get('toRawJson')!,
    mustToRawJSON: sprig.get('mustToRawJson')!,
    toYAML: toYaml,
    toYaml,
    fromYAML: fromYaml,
    fromYaml,
    atoi: goFunction(['string'], ([text]) => goInt(decimal(text as string))),
    toInt: goFunction(['any'], ([value]) => goInt(toInt64(value))),
    toBool: goFunction(['string'], ([text]) => TRUE.has(text as string)),
    toLiteral: goFunction(['string'], ([text]) => {
      if (!(text as string).includes('\n')) return text
      throw new GoError('new lines are not allowed in the string passed to the toLiteral function')
    }),
    indent: goFunction(['int', 'string'], ([spaces, text]) =>
      indent(Number((spaces as GoInt).value) + indentation, text as string),
    ),
    autoindent: goFunction(['string'], () => {
      throw new GoError('an unexpected error occurred where autoindent could not be processed')
    }),
    protect: goFunction(['string'], () => {
      throw new GoError('the protect template function is not enabled in this mode')
    }),
  }
}

// strconv.ParseBool; every other text is false.
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])

const DECIMAL = /^[+-]?\d+$/

/** strconv.Atoi, with 0 for what is no number and the nearest bound for what is too large. */
function decimal(text: string): bigint {
  if (!DECIMAL.test(text)) return 0n
  const whole = BigInt(text.replace(/^\+/, ''))
  const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n]
  return whole < least ? least : whole > most ? most : whole
}

/** Keeps an indentation within what a template may write. */
const MOST_SPACES = 10_000

function indent(spaces: number, text: string): string {
  if (spaces < 0) throw new GoError('strings: negative Repeat count')
  if (spaces > MOST_SPACES) throw new GoError(`indent is limited to ${MOST_SPACES} spaces`)
  const pad = ' '.repeat(spaces)
  return `\n${pad}${text.replaceAll('\n', `\n${pad}`)}`.trim()
}

function readGoYaml(text: string): unknown {
  try {
    return readFirstYaml(yamlSource(text), { resolver: '1.2', mappings: 'map', integer: (whole) => goInt(whole) }).value
  } catch (caught) {
    if (caught instanceof YamlError) throw new GoError(caught.goMessage)
    throw caught
  }
}

function dataFunctions(lookup: ClusterLookup): Record<string, GoFunction> {
  const isAnywhere = (lookup.scope.namespace ?? '') === ''
  const read = (kind: 'Secret' | 'ConfigMap', namespace: string, name: string): JsonObject | undefined => {
    try {
      return lookup.read({ apiVersion: 'v1', kind, namespace, name })
    } catch (caught) {
      if (!(caught instanceof GoError)) throw caught
      const failed = kind === 'Secret' ? 'failed to get the secret' : 'failed getting the ConfigMap'
      throw new GoError(`${failed} ${name} from ${namespace}: ${caught.message}`)
    }
  }
  const valueOf = (kind: 'Secret' | 'ConfigMap') =>
    goFunction(['string', 'string', 'string'], (args) => {
      const [namespace, name, key] = args as string[]
      if (name === '' || (isAnywhere && namespace === '') || key === '') {
        throw new GoError('the input is invalid: namespace, name, and key must be specified')
      }
      const value = dataOf(read(kind, namespace!, name!))?.[key!]
      return typeof value === 'string' ? value : ''
    })
  const allOf = (kind: 'Secret' | 'ConfigMap') =>
    goFunction(['string', 'string'], (args) => {
      const [namespace, name] = args as string[]
      if (name === '' || (isAnywhere && namespace === '')) {
        throw new GoError('the input is invalid: namespace and name must be specified')
      }
      return goJson(dataOf(read(kind, namespace!, name!)) ?? null)
    })
  return {
    fromSecret: valueOf('Secret'),
    fromConfigMap: valueOf('ConfigMap'),
    copySecretData: allOf('Secret'),
    copyConfigMapData: allOf('ConfigMap'),
  }
}

function dataOf(object: JsonObject | undefined): JsonObject | undefined {
  return isObject(object?.['data']) ? object['data'] : undefined
}

function objectFunctions(lookup: ClusterLookup): Record<string, GoFunction> {
  const claimOf = (name: string): string => {
    if (name === '') throw new GoError('a claim name must be provided')
    const spec = lookup.read({ ...CLAIM, name })?.['spec']
    if (!isObject(spec)) throw new GoError(`unexpected ClusterClaim format: ${name}`)
    return typeof spec['value'] === 'string' ? spec['value'] : ''
  }
  const nodes = (args: readonly unknown[]): JsonObject[] => nodesWithRoles(lookup, args as string[])
  return {
    lookup: goFunction(
      ['string', 'string', 'string', 'string'],
      (args) => {
        const [apiVersion, kind, namespace, name, ...selectors] = args as string[]
        const query = { apiVersion: apiVersion!, kind: kind!, namespace: namespace!, name: name!, selectors }
        const found = orMissing(() => lookup.read(query))
        return found ? goMap(found) : nilMap()
      },
      'string',
    ),
    fromClusterClaim: goFunction(['string'], ([name]) => claimOf(name as string)),
    lookupClusterClaim: goFunction(['string'], ([name]) => orMissing(() => claimOf(name as string)) ?? ''),
    getNodesWithExactRoles: goFunction([], (args) => goMap({ items: nodes(args) }), 'string'),
    hasNodesWithExactRoles: goFunction([], (args) => nodes(args).length > 0, 'string'),
  }
}

function orMissing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (caught) {
    if (caught instanceof MissingObjectError) return undefined
    throw caught
  }
}

/** The nodes with all of these roles and no other; the role `worker` does not count. */
function nodesWithRoles(lookup: ClusterLookup, names: readonly string[]): JsonObject[] {
  const roles = names.filter((name) => name.trim() !== '').map((name) => `${ROLE}${name}`)
  if (roles.length === 0) throw new GoError('the input is invalid: at least one name must be specified')
  const list = lookup.read({ apiVersion: 'v1', kind: 'Node', namespace: '', name: '', selectors: roles })
  const known = new Set([...roles, `${ROLE}worker`])
  return ((list?.['items'] ?? []) as JsonObject[]).filter((node) => {
    const labels = isObject(node['metadata']) ? node['metadata']['labels'] : undefined
    return Object.keys(isObject(labels) ? labels : {}).every(
      (label) => !label.startsWith('node-role.kubernetes.io') || known.has(label),
    )
  })
}

/** `skipObject`: remembers that the object of the template is left out. */
export function skipFunction(): { readonly fun: GoFunction; readonly skips: () => boolean } {
  let skips = false
  const call = (args: readonly unknown[]): string => {
    if (args.length > 1) {
      throw new GoError(`expected one optional boolean argument but received ${args.length} arguments`)
    }
    if (args.length === 0) skips = true
    else if (!skips) {
      if (typeof args[0] !== 'boolean') throw new GoError(`expected boolean but received '${formatValue(args[0])}'`)
      skips = args[0]
    }
    return ''
  }
  return { fun: goFunction([], call, 'any'), skips: () => skips }
}
