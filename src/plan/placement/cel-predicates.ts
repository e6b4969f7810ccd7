/**
 * CEL in predicates. The native variable is `cluster`: metadata (name, labels), spec (accepted, taints), status (claims
 * by name, allocatable, capacity). With the `ocm` scheduler it is `managedCluster`, in Open Cluster Management's form.
 * Both have `.scores(resource)`, and texts have `.parseJSON()`.
 */
import { celEnvironment, compileCel, PER_OBJECT_LIMIT } from '../../cel/cel.ts'
import type { CelEnvironment } from '../../cel/cel.ts'
import { parseOverloads } from '../../cel/library/overload.ts'
import type { Overload } from '../../cel/library/overload.ts'
import { DYNAMIC } from '../../cel/declare-schema.ts'
import { CelFailure, JsonList, JsonMap } from '../../cel/values.ts'
import type { CelValue } from '../../cel/values.ts'
import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import type { ClusterTaint, CompileCel, PlacementCluster } from './types.ts'

/**
 * Compiles expressions for a scheduler. Callers cache the result, because compiling costs as much as 100 evaluations.
 */
export function compileCelFor(scheduler: 'native' | 'ocm'): CompileCel {
  // Evaluation is synchronous, so one cluster at a time is evaluated.
  let asked: PlacementCluster | undefined
  const functions = parseOverloads({
    cluster_scores: [
      'dyn::scores(string): list<dyn>',
      (_target: never, resource: string) => {
        const scores = (asked?.scores ?? []).filter((score) => score.resource === resource)
        if (scores.length === 0) throw new CelFailure(`the cluster has no scores of ${resource}`)
        return DYNAMIC.adapt(scores.map(({ name, value }) => ({ name, value })))
      },
    ],
    string_parse_json: [
      'string::parseJSON(): dyn',
      (text: string) => (scheduler === 'ocm' ? asGoReads : DYNAMIC.adapt)(parseJson(text)),
    ],
  })
  const variable = scheduler === 'ocm' ? 'managedCluster' : 'cluster'
  const whole = celEnvironment(
    { [variable]: DYNAMIC },
    scheduler === 'ocm' ? [...functions, ...OF_OCM_ALONE] : functions,
  )
  const environment = scheduler === 'ocm' ? { ...whole, functions: knownToOcm(whole.functions) } : whole
  const objectOf = scheduler === 'ocm' ? asManagedCluster : asCluster
  return (expression) => {
    const program = compileCel(expression, environment)
    if (!program.ok) return { error: program.problems.map(({ message }) => message).join('; ') }
    if (scheduler === 'native' && program.type.kind !== 'bool' && program.type.kind !== 'dyn') {
      return { error: `the expression returns ${program.type.kind}; want bool` }
    }
    return (cluster) => {
      asked = cluster
      const result = program.evaluate({ [variable]: cluster.object ?? objectOf(cluster) }, PER_OBJECT_LIMIT / 10)
      asked = undefined
      if (!result.ok) return { error: result.error }
      return typeof result.value === 'boolean' ? result.value : { error: 'the expression does not return a bool' }
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CelFailure('the text is not JSON')
  }
}

/** Go reads every number of a JSON text as a double. */
function asGoReads(raw: unknown): CelValue {
  if (typeof raw === 'number') return raw
  if (Array.isArray(raw)) return new JsonList(raw, asGoReads)
  return isObject(raw) ? new JsonMap(raw, asGoReads) : DYNAMIC.adapt(raw)
}

/** Open Cluster Management has neither cel-go's extension of lists nor sets, and versions in their strict form only. */
const UNKNOWN_TO_OCM = /^(sets\.|lists\.|(slice|flatten|distinct|sort|@sortByAssociatedKeys)$)/

function knownToOcm(functions: CelEnvironment['functions']): CelEnvironment['functions'] {
  const isKnown = ({ id, fn, params }: Overload) =>
    !UNKNOWN_TO_OCM.test(fn) && id !== 'list_reverse' && (!/^(isS|s)emver$/.test(fn) || params.length === 1)
  return new Map(
    [...functions].flatMap(([name, overloads]) => {
      const known = overloads.filter(isKnown)
      return known.length > 0 ? [[name, known] as const] : []
    }),
  )
}

const OF_OCM_ALONE = parseOverloads({
  string_reverse: ['string::reverse(): string', (text: string) => [...text].reverse().join('')],
})

function asCluster({ name, labels, accepted, taints, claims, allocatable, capacity }: PlacementCluster): unknown {
  return {
    metadata: { name, labels },
    spec: { accepted, taints: taints ?? [] },
    status: { claims: claims ?? {}, allocatable: allocatable ?? {}, capacity: capacity ?? {} },
  }
}

function asManagedCluster(cluster: PlacementCluster): unknown {
  const { name, labels, accepted, taints, claims, allocatable, capacity } = cluster
  const kubernetes = claims?.['kubeversion.open-cluster-management.io'] ?? claims?.['flotilla.dev/kubernetes-version']
  const clusterClaims = Object.entries(claims ?? {}).map(([claim, value]) => ({ name: claim, value }))
  // Open Cluster Management leaves out empty fields, except for the time of a taint.
  return {
    metadata: { name, ...filled({ labels }) },
    spec: {
      hubAcceptsClient: accepted,
      leaseDurationSeconds: 60,
      ...filled({ taints: taints?.map(asOcmTaint) }),
    },
    status: {
      ...filled({ allocatable, capacity, clusterClaims }),
      conditions: null,
      version: kubernetes === undefined ? {} : { kubernetes },
    },
  }
}

function asOcmTaint({ key, value, effect, timeAdded }: ClusterTaint): unknown {
  return compact({ key, value: value || undefined, effect, timeAdded: timeAdded ?? null })
}

function filled(fields: Readonly<Record<string, object | undefined>>): Record<string, object> {
  const entries = Object.entries(fields).flatMap(([name, value]) =>
    value && Object.keys(value).length > 0 ? [[name, value] as const] : [],
  )
  return Object.fromEntries(entries)
}
