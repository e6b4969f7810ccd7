// Tested by src/dialects/ocm/policy/recorded.contract.test.ts.
/** Runs a policy against objects of files, as the dry run of Open Cluster Management does. */
import { formatTime, parseTime } from '../../../core/time/time.ts'
import { goJson } from '../../../yaml/go-json.ts'
import { readFirstYaml, readNodes, nodeValue } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { readConfigurationPolicy } from '../../../plan/policy/configuration-policy.ts'
import type { PolicyStatus } from '../../../plan/policy/configuration-policy.ts'
import { evaluatePolicy } from '../../../plan/policy/evaluate-policy.ts'
import { fieldOf, goTypeName, goValue, isGoObject, sprint, textAt } from '../../../plan/policy/go-value.ts'
import type { GoObject, GoValue } from '../../../plan/policy/go-value.ts'
import type { Entropy } from '../../../render/helm/frozen-random.ts'
import { builtInKinds, readMappings } from './api-kinds.ts'
import { memoryCluster } from './memory-cluster.ts'
import type { MemoryCluster } from './memory-cluster.ts'
import { policyTools } from '../../../plan/policy/policy-tools.ts'
import { templateEngine } from '../../../render/policy-template/template-engine.ts'
import { readStrictPolicy } from './strict-policy.ts'
import { typeProblem } from './typed-input.ts'

/** Why a dry run cannot be done, in the words of the original. */
export class DryRunError extends Error {
  override readonly name = 'DryRunError'
}

/** A text with the name it is told by: `file a.yaml` or `stdin`. */
export interface InputText {
  readonly name: string
  readonly text: string
}

/** What a dry run needs. */
export interface DryRunInput {
  readonly policy: string
  readonly objects: readonly InputText[]
  /** A file of kinds, in place of the built-in kinds. */
  readonly mappings?: string
  readonly fullDiffs?: boolean
  readonly entropy: Entropy
}

/** What a dry run found. */
export interface DryRunResult {
  readonly status: PolicyStatus
  readonly messages: readonly string[]
  /** The Policy has more than one ConfigurationPolicy, and the others are not run. */
  readonly ignored: number
}

/** Runs the policy once; a DryRunError says why it could not be evaluated. */
export function dryRun(input: DryRunInput): DryRunResult {
  const { object, ignored } = inWords('unable to read input policy', () => readPolicy(input.policy))
  const cluster = loadCluster(input)
  const known = notYet(object, input.entropy.now())
  if (known) return { status: known, messages: [], ignored }
  const tools = policyTools(templateEngine(cluster.objects, input.entropy))
  const { status, messages, errors } = evaluatePolicy({
    policy: readConfigurationPolicy(object),
    cluster,
    tools,
    fullDiffs: input.fullDiffs ?? false,
    time: formatTime(input.entropy.now()),
  })
  if (errors.length > 0) throw new DryRunError(`unable to complete the dryrun reconcile: ${aggregate(errors)}`)
  return { status, messages, ignored }
}

/** A cluster with the objects of the inputs, and the namespace `default`. */
export function loadCluster(input: Pick<DryRunInput, 'objects' | 'mappings'>): MemoryCluster {
  const { mappings } = input
  const kinds = inWords('unable to setup the dryrun reconciler', () =>
    mappings === undefined ? builtInKinds() : orYamlError(() => readMappings(mappings)),
  )
  const cluster = memoryCluster(kinds)
  const namespaces = { apiVersion: 'v1', kind: 'Namespace', resource: 'namespaces', namespaced: false }
  cluster.add(namespaces, goValue({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }) as GoObject)
  const objects = inWords('unable to read input resources', () => input.objects.flatMap(readObjects))
  inWords('unable to apply input resources', () => {
    for (const one of objects) applyObject(cluster, one)
  })
  return cluster
}

/** The status of a policy that was evaluated less than its interval ago: it is not evaluated again. */
function notYet(policy: GoObject, now: number): PolicyStatus | undefined {
  const status = fieldOf(policy, 'status')
  if (!isGoObject(status) || textAt(policy, 'metadata', 'deletionTimestamp') !== '') return undefined
  const state = textAt(status, 'compliant')
  const last = parseTime(textAt(status, 'lastEvaluated'))
  const metadata = fieldOf(policy, 'metadata')
  const generation = (isGoObject(metadata) ? fieldOf(metadata, 'generation') : undefined) ?? 0n
  if (last === undefined || (state !== 'Compliant' && state !== 'NonCompliant')) return undefined
  if ((fieldOf(status, 'lastEvaluatedGeneration') ?? 0n) !== generation || now >= last + INTERVAL_MS) return undefined
  return JSON.parse(goJson(status)) as PolicyStatus
}

const INTERVAL_MS = 10_000

/** Errors as apimachinery prints several: each once. */
function aggregate(errors: readonly string[]): string {
  const distinct = [...new Set(errors)]
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`
}

const POLICIES = 'policy.open-cluster-management.io/v1'

function readPolicy(text: string): { readonly object: GoObject; readonly ignored: number } {
  const document = readStrict(text)
  const apiVersion = textAt(document, 'apiVersion')
  if (apiVersion !== POLICIES) {
    throw new DryRunError(`unsupported apiVersion: ${apiVersion}, the input policy must be '${POLICIES}'`)
  }
  switch (textAt(document, 'kind')) {
    case 'ConfigurationPolicy':
      return { object: informing(document, 'could not unmarshal input to a ConfigurationPolicy'), ignored: 0 }
    case 'Policy':
      return firstOf(document)
    default:
      throw new DryRunError(
        `unsupported input kind: ${textAt(document, 'kind')}, must be 'Policy' or 'ConfigurationPolicy'`,
      )
  }
}

/** The first ConfigurationPolicy of a Policy. */
function firstOf(document: GoObject): { readonly object: GoObject; readonly ignored: number } {
  const spec = fieldOf(document, 'spec')
  if (spec !== undefined && spec !== null && !isGoObject(spec)) throw accessor('.spec', spec, 'map[string]interface{}')
  const templates = isGoObject(spec) ? fieldOf(spec, 'policy-templates') : undefined
  if (templates === undefined) throw new DryRunError('invalid input Policy: no policy-templates found')
  if (!Array.isArray(templates)) throw accessor('.spec.policy-templates', templates, '[]interface{}')
  const found = templates.flatMap((template, index) => {
    const definition = isGoObject(template) ? fieldOf(template, 'objectDefinition') : undefined
    return isGoObject(definition) && definition['kind'] === 'ConfigurationPolicy' ? [{ definition, index }] : []
  })
  const [first] = found
  if (!first) throw new DryRunError('invalid input Policy: it must contain a ConfigurationPolicy')
  const words = `could not unmarshal input policy template [${first.index}] to a ConfigurationPolicy`
  return { object: informing(first.definition, words), ignored: found.length - 1 }
}

function accessor(path: string, value: GoValue, wanted: string): DryRunError {
  return new DryRunError(
    `invalid input Policy: ${path} accessor error: ${sprint(value)} is of the type ${goTypeName(value)}, expected ${wanted}`,
  )
}

/** The first document of a text as a mapping; a key that stands twice is an error. */
export function readStrict(text: string): GoObject {
  const value = orYamlError(() => {
    const read = readFirstYaml(text, { duplicateKeys: 'strict', integer: (whole) => whole }).value
    return goValue(read)
  }, 'error converting YAML to JSON: ')
  return isGoObject(value) ? value : {}
}

/** The policy as it is run: it informs, and is evaluated once. */
function informing(object: GoObject, words: string): GoObject {
  const read = readStrictPolicy(object)
  if ('problem' in read) {
    throw new DryRunError(`${words}: error unmarshaling JSON: while decoding JSON: ${read.problem}`)
  }
  const [metadata, spec] = [fieldOf(read.policy, 'metadata'), fieldOf(read.policy, 'spec')]
  return {
    ...read.policy,
    metadata: {
      ...(isGoObject(metadata) ? metadata : {}),
      ownerReferences: [{ apiVersion: '', kind: '', name: 'cfgpol-dryrun-parent', uid: '' }],
    },
    spec: {
      ...(isGoObject(spec) ? spec : {}),
      remediationAction: 'inform',
      evaluationInterval: { compliant: '10s', noncompliant: '10s' },
    },
  }
}

function readObjects({ name, text }: InputText): GoObject[] {
  return orYamlError(() => {
    const nodes = readNodes(text, { resolver: '1.2' })
    return nodes.flatMap((node) => {
      const value = goValue(nodeValue(node, { resolver: '1.2', integer: (whole) => whole }))
      if (value === null) return []
      if (!isGoObject(value)) throw notMapping(name, value)
      if (textAt(value, 'kind') === '') {
        throw new DryRunError(
          `could not re-un-marshal ${name} to kubernetes YAML: error unmarshaling JSON: while decoding JSON: Object 'Kind' is missing in '${goJson(value)}'`,
        )
      }
      return [value]
    })
  }, `could not decode ${name} to YAML: `)
}

function notMapping(name: string, value: GoValue): DryRunError {
  const [tag, shown] = Array.isArray(value)
    ? ['!!seq', '']
    : [
        `!!${({ string: 'str', boolean: 'bool', bigint: 'int', number: 'float' } as Record<string, string>)[typeof value]}`,
        ` \`${sprint(value)}\``,
      ]
  return new DryRunError(
    `could not decode ${name} to YAML: yaml: unmarshal errors:\n  line 1: cannot unmarshal ${tag}${shown} into map[string]interface {}`,
  )
}

const SET_BY_SERVER = ['resourceVersion', 'generatedName', 'creationTimestamp', 'selfLink', 'uid']

function applyObject(cluster: MemoryCluster, object: GoObject): void {
  const kind = textAt(object, 'kind')
  const resource = cluster.resourceOf(textAt(object, 'apiVersion'), kind)
  if (!resource) {
    throw new DryRunError(
      `the resource version was not found for kind ${kind}: if this is a custom resource, it may need an entry in the mappings file`,
    )
  }
  const metadata = fieldOf(object, 'metadata')
  if (metadata !== undefined && !isGoObject(metadata)) {
    throw new DryRunError(`the metadata of a ${kind} is not a mapping: correct the input file`)
  }
  const namespace = textAt(object, 'metadata', 'namespace')
  const kept: GoObject = {
    ...metadata,
    ...(resource.namespaced && namespace === '' && { namespace: 'default' }),
  }
  for (const field of SET_BY_SERVER) delete kept[field]
  if (metadata === undefined && !resource.namespaced) {
    throw new DryRunError(`a ${kind} has no metadata: give it a name in the input file`)
  }
  if (!resource.namespaced && namespace !== '') {
    throw new DryRunError(`request namespace does not match object namespace, request: "" object: "${namespace}"`)
  }
  const problem = typeProblem(object)
  cluster.add(resource, { ...object, metadata: kept })
  if (problem !== undefined) throw new DryRunError(problem)
}

function orYamlError<T>(read: () => T, prefix = ''): T {
  try {
    return read()
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    throw new DryRunError(`${prefix}${caught.goMessage}`)
  }
}

function inWords<T>(words: string, act: () => T): T {
  try {
    return act()
  } catch (caught) {
    if (!(caught instanceof DryRunError)) throw caught
    throw new DryRunError(`${words}: ${caught.message}`)
  }
}
