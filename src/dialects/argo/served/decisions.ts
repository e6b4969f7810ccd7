/** The objects that clusterDecisionResource generators read: ConfigMaps, and decisions of the kind they name. */
import type { Client } from '../../../client/client.ts'
import { findObject } from '../../../client/find-object.ts'
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { ConfigMap } from '../../../kinds/builtin/core.ts'
import type { KubeObject, ResourceType } from '../../../kinds/meta.ts'
import { PlacementDecision } from '../../../kinds/native/placement-decision.ts'

const PAGE = 500

/** Reads them in a namespace; a kind that is not served has no objects. */
export async function readDecisions(
  client: Client,
  { namespace, configMaps }: { readonly namespace: string; readonly configMaps: readonly string[] },
  signal: AbortSignal,
): Promise<readonly JsonObject[]> {
  const objects: JsonObject[] = []
  for (const name of new Set(configMaps)) {
    const found = await findObject(client, ConfigMap, { namespace, name }, signal)
    if (!found) continue
    objects.push(found as unknown as JsonObject)
    const { apiVersion = '', kind: plural = '' } = found.data ?? {}
    const [group = '', version = ''] = apiVersion.split('/')
    if (group === '' || version === '' || plural === '') continue
    const type = { group, version, kind: plural, plural, scope: 'Namespaced' } as const
    for (const object of await listed(client, type, namespace, signal))
      objects.push(asDecision(object, plural, apiVersion))
  }
  return objects
}

async function listed(
  client: Client,
  type: ResourceType<KubeObject>,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const items: KubeObject[] = []
  let next: string | undefined
  try {
    do {
      const page = await client.list(type, { namespace, limit: PAGE, ...compact({ continue: next }) }, signal)
      items.push(...page.items)
      next = page.continue
    } while (next !== undefined)
  } catch (caught) {
    if (items.length === 0 && (isApiError(caught, 'NotFound') || isApiError(caught, 'Forbidden'))) return []
    throw caught
  }
  return items
}

/** Decisions of flotilla.dev have their clusters in the spec; Open Cluster Management's in the status. */
function asDecision(object: KubeObject, plural: string, apiVersion: string): JsonObject {
  // Items of a list may come without their kind.
  const kind = plural.replace(/ies$/, 'y').replace(/s$/, '')
  const named = { ...(object as unknown as JsonObject), apiVersion, kind }
  const spec = (named as { readonly spec?: unknown }).spec
  if (plural !== PlacementDecision.plural || !apiVersion.startsWith(PlacementDecision.group) || !isObject(spec))
    return named
  const decisions = Array.isArray(spec['decisions']) ? spec['decisions'].filter(isObject) : []
  const selected = decisions.filter(({ state }) => state === 'Selected')
  const clusters = selected.map(({ cluster, reason }) => ({ clusterName: cluster, reason: reason ?? '' }))
  return { ...named, status: { decisions: clusters } }
}
