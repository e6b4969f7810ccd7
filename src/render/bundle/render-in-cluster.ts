/**
 * Renders one bundle in its cluster: the same engines as on the hub, over files that the hub prepared and data that was
 * read in the cluster. Pure: the caller answers the lookups of a chart, and the render is repeated with the answers.
 */
import { compact } from '../../core/compact.ts'
import { canonicalJson, isObject } from '../../core/json.ts'
import { goInt64 } from '../gotemplate/value.ts'
import type { FrozenRecord } from '../helm/frozen-random.ts'
import type { LookUp } from '../helm/functions/helm-functions.ts'
import type { RenderLimits } from '../helm/render-limits.ts'
import type { RenderResult } from '../render-result.ts'
import { decryptRendered } from './encrypted-content.ts'
import type { BundleRecipe } from './recipe.ts'
import { renderVariant } from './render-variant.ts'
import type { RenderDependencies } from './render-context.ts'

/** A question of `lookup`; without a name, all objects of the kind. */
export type LookupQuery = Parameters<LookUp>[0]

/** A question and its answer: an object, a list, or nothing. Plain data. */
export interface LookupAnswer {
  readonly query: LookupQuery
  readonly found: unknown
}

/** The inputs of a render; plain data, so that it can be sent to another thread. */
export interface ClusterRenderRequest {
  readonly recipe: BundleRecipe
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly frozen: FrozenRecord
  /** The texts of `helm.valuesFrom`, in order. */
  readonly values: readonly (string | undefined)[]
  readonly lookups: readonly LookupAnswer[]
  readonly kubeVersion?: string
  readonly apiVersions?: readonly string[]
  /** The keys of `decryptInCluster`, by the names of their files. */
  readonly keys?: Readonly<Record<string, string>>
}

/** The rendered result, or the lookups that must be answered first. */
export type ClusterRenderAnswer =
  | { readonly kind: 'Look'; readonly queries: readonly LookupQuery[] }
  | { readonly kind: 'Rendered'; readonly result: RenderResult; readonly frozen: FrozenRecord }

/** Far above the needs of real content, and affordable in a small agent. */
const CLUSTER_RENDER_LIMITS: RenderLimits = { output: 64 * 1024 * 1024 }

export function renderInCluster(
  request: ClusterRenderRequest,
  parts: Pick<RenderDependencies, 'entropy' | 'watch'>,
): ClusterRenderAnswer {
  const { recipe, files, frozen, values, lookups, kubeVersion, apiVersions, keys = {} } = request
  const { decryptInCluster: decryption } = recipe
  const known = new Map(lookups.map(({ query, found }) => [keyOf(query), found]))
  const asked = new Map<string, LookupQuery>()
  const { result, frozen: drawn } = renderVariant(recipe, NO_CLUSTER_INPUTS, {
    ...parts,
    files,
    frozen,
    limits: CLUSTER_RENDER_LIMITS,
    cluster: {
      values,
      facts: compact({
        kubeVersion,
        allApiVersions: apiVersions,
      }),
      lookUp: (query) => {
        const key = keyOf(query)
        if (!known.has(key)) asked.set(key, query)
        const found = known.get(key)
        return isObject(found) ? (goObject(found) as Map<string, unknown>) : undefined
      },
    },
  })
  // The render used wrong answers: its objects, its random values and its problems do not count.
  if (asked.size > 0) return { kind: 'Look', queries: [...asked.values()] }
  if (result.ok === 'skip' || result.ok === 'prepared') {
    return { kind: 'Rendered', result: { ok: false, problems: [{ message: 'nothing was rendered' }] }, frozen }
  }
  const readable = decryption ? decryptRendered(result, { decryption, files, keys }) : result
  return { kind: 'Rendered', result: readable, frozen: drawn }
}

// The hub has already applied all cluster fields that layers and `${ }` read.
const NO_CLUSTER_INPUTS = { name: '', labels: {}, annotations: {}, claims: {}, values: {} }

function keyOf({ apiVersion, kind, namespace, name }: LookupQuery): string {
  return canonicalJson([apiVersion, kind, namespace, name])
}

/** JSON in the form in which Helm sees live objects: Maps, and whole numbers as integers. */
function goObject(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(goObject)
  if (isObject(value)) return new Map(Object.entries(value).map(([key, item]) => [key, goObject(item)]))
  return typeof value === 'number' && Number.isSafeInteger(value) ? goInt64(value) : value
}
