/**
 * One bundle in the cluster it is for: the same engines as on the hub, over files that the hub prepared and what was read in the cluster. Pure:
 * what a chart looks up is asked for by whoever may read it, and the render is made again with the answers.
 */
import { canonicalJson, isObject } from '../../core/json.ts'
import { goInt64 } from '../gotemplate/value.ts'
import type { FrozenRecord } from '../helm/frozen-random.ts'
import type { LookUp } from '../helm/functions/helm-functions.ts'
import type { RenderLimits } from '../helm/render-limits.ts'
import type { RenderResult } from '../render-result.ts'
import type { BundleRecipe } from './recipe.ts'
import { renderVariant } from './render-variant.ts'
import type { RenderDependencies } from './render-context.ts'

/** A question of `lookup`; without a name, for all of a kind. */
export type LookupQuery = Parameters<LookUp>[0]

/** A question and its answer: an object, a list, or nothing. Plain data. */
export interface LookupAnswer {
  readonly query: LookupQuery
  readonly found: unknown
}

/** What to render; plain data, so that it may go to another thread. */
export interface ClusterRenderRequest {
  readonly recipe: BundleRecipe
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly frozen: FrozenRecord
  /** The texts behind `helm.valuesFrom`, in its order. */
  readonly values: readonly (string | undefined)[]
  readonly lookups: readonly LookupAnswer[]
  readonly kubeVersion?: string
  readonly apiVersions?: readonly string[]
}

/** What came out, or what has to be looked up first. */
export type ClusterRenderAnswer =
  | { readonly kind: 'Look'; readonly queries: readonly LookupQuery[] }
  | { readonly kind: 'Rendered'; readonly result: RenderResult; readonly frozen: FrozenRecord }

/** Far above what real content needs, and bearable in a small agent. */
const CLUSTER_RENDER_LIMITS: RenderLimits = { output: 64 * 1024 * 1024 }

/** Renders. */
export function renderInCluster(
  request: ClusterRenderRequest,
  parts: Pick<RenderDependencies, 'entropy' | 'watch'>,
): ClusterRenderAnswer {
  const { recipe, files, frozen, values, lookups, kubeVersion, apiVersions } = request
  const known = new Map(lookups.map(({ query, found }) => [keyOf(query), found]))
  const asked = new Map<string, LookupQuery>()
  const { result, frozen: drawn } = renderVariant(recipe, NOBODY, {
    ...parts,
    files,
    frozen,
    limits: CLUSTER_RENDER_LIMITS,
    cluster: {
      values,
      facts: {
        ...(kubeVersion === undefined ? {} : { kubeVersion }),
        ...(apiVersions === undefined ? {} : { allApiVersions: apiVersions }),
      },
      lookUp: (query) => {
        const key = keyOf(query)
        if (!known.has(key)) asked.set(key, query)
        const found = known.get(key)
        return isObject(found) ? (goObject(found) as Map<string, unknown>) : undefined
      },
    },
  })
  // Made with wrong answers: neither its objects nor what it drew, nor what it complains about, count.
  if (asked.size > 0) return { kind: 'Look', queries: [...asked.values()] }
  if (result.ok === 'skip' || result.ok === 'prepared') {
    return { kind: 'Rendered', result: { ok: false, problems: [{ message: 'nothing was rendered' }] }, frozen }
  }
  return { kind: 'Rendered', result, frozen: drawn }
}

// What of a cluster layers and `${ }` look at, the hub has seen to.
const NOBODY = { name: '', labels: {}, annotations: {}, claims: {}, values: {} }

function keyOf({ apiVersion, kind, namespace, name }: LookupQuery): string {
  return canonicalJson([apiVersion, kind, namespace, name])
}

/** JSON as Helm has live objects: maps, and whole numbers as such. */
function goObject(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(goObject)
  if (isObject(value)) return new Map(Object.entries(value).map(([key, item]) => [key, goObject(item)]))
  return typeof value === 'number' && Number.isSafeInteger(value) ? goInt64(value) : value
}
