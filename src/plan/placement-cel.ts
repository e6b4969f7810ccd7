/**
 * CEL in predicates. The native variable is `cluster`: metadata (name, labels), spec (accepted, taints), status (claims by
 * name, allocatable, capacity). With the `ocm` scheduler it is `managedCluster`, in Open Cluster Management's form. Both
 * have `.scores(resource)`, and texts have `.parseJSON()`.
 */
import { celEnvironment, compileCel, PER_OBJECT_LIMIT } from '../cel/cel.ts'
import { library } from '../cel/library/overload.ts'
import { DYNAMIC } from '../cel/schema.ts'
import { CelFailure } from '../cel/values.ts'
import type { CompileCel, PlacementCluster } from './placement-facts.ts'

/** Compiles expressions for a scheduler; keep what it gives, for compiling costs some hundred evaluations. */
export function compileCelFor(scheduler: 'native' | 'ocm'): CompileCel {
  // Evaluation is synchronous, so that one cluster at a time is asked.
  let asked: PlacementCluster | undefined
  const functions = library({
    cluster_scores: [
      'dyn::scores(string): list<dyn>',
      (_target: never, resource: string) => {
        const scores = (asked?.scores ?? []).filter((score) => score.resource === resource)
        if (scores.length === 0) throw new CelFailure(`there are no scores of ${resource}`)
        return DYNAMIC.adapt(scores.map(({ name, value }) => ({ name, value })))
      },
    ],
    string_parse_json: ['string::parseJSON(): dyn', (text: string) => DYNAMIC.adapt(parseJson(text))],
  })
  const variable = scheduler === 'ocm' ? 'managedCluster' : 'cluster'
  const environment = celEnvironment({ [variable]: DYNAMIC }, functions)
  const objectOf = scheduler === 'ocm' ? asManagedCluster : asCluster
  return (expression) => {
    const program = compileCel(expression, environment)
    if (!program.ok) return { error: program.problems.map(({ message }) => message).join('; ') }
    if (scheduler === 'native' && program.type.kind !== 'bool' && program.type.kind !== 'dyn') {
      return { error: `it gives ${program.type.kind}, not true or false` }
    }
    return (cluster) => {
      asked = cluster
      const result = program.evaluate({ [variable]: cluster.object ?? objectOf(cluster) }, PER_OBJECT_LIMIT / 10)
      asked = undefined
      if (!result.ok) return { error: result.error }
      return typeof result.value === 'boolean' ? result.value : { error: 'it gives neither true nor false' }
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
  return {
    metadata: { name, labels },
    spec: { hubAcceptsClient: accepted, ...(taints && taints.length > 0 ? { taints } : {}) },
    status: {
      allocatable: allocatable ?? {},
      capacity: capacity ?? {},
      clusterClaims: Object.entries(claims ?? {}).map(([claim, value]) => ({ name: claim, value })),
      conditions: null,
      version: kubernetes === undefined ? {} : { kubernetes },
    },
  }
}
