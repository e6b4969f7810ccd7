import { ApiError } from '../core/errors.ts'
import { formatTime } from '../core/time.ts'
import type { Kind } from '../kinds/define-kind.ts'
import { apiVersionOf } from '../kinds/meta.ts'
import type { ObjectMeta, UnknownObject } from '../kinds/meta.ts'
import type { Context, Parts } from './context.ts'
import { readObject, storeKeyOf, textAt } from './objects.ts'
import { forbidden, notFound } from './refusals.ts'
import { strategyOf } from './strategies.ts'

/** Namespaces: the ones that always exist, and the rule that a namespaced object needs its own. */

/** Namespaces that exist from the start and cannot be deleted. */
export const SYSTEM_NAMESPACES = ['default', 'kube-system', 'kube-public', 'flotilla-system'] as const

/** 404 when the namespace of a new object does not exist, 403 while it is being deleted. */
export async function requireNamespace({ parts, kind }: Context, metadata: ObjectMeta): Promise<void> {
  const namespaces = parts.registry.find('', 'v1', 'namespaces')
  const name = metadata.namespace
  if (!namespaces || kind.scope !== 'Namespaced' || !name) return
  const found = await readObject(parts.store, namespaces, { name })
  if (!found) throw notFound(namespaces, name)
  if (!found.object.metadata.deletionTimestamp) return
  const object = metadata.name || metadata.generateName || ''
  const why = `unable to create new content in namespace ${name} because it is being terminated`
  const refusal = forbidden(kind, object, why)
  throw new ApiError('Forbidden', refusal.message, {
    ...refusal.details,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${name} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  })
}

/** The Service by which everything inside a cluster finds its API. */
const API_SERVICE = {
  metadata: { name: 'kubernetes', namespace: 'default', labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1'],
    internalTrafficPolicy: 'Cluster',
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
    sessionAffinity: 'None',
    type: 'ClusterIP',
  },
  status: { loadBalancer: {} },
}

/** Makes the namespaces that always exist and, where Services are served, the one of the API. */
export async function ensureSystemNamespaces(parts: Parts): Promise<void> {
  const kind = parts.registry.find('', 'v1', 'namespaces')
  if (!kind) return
  for (const name of SYSTEM_NAMESPACES) await ensure(parts, kind, { metadata: { name } })
  const services = parts.registry.find('', 'v1', 'services')
  if (services) await ensure(parts, services, structuredClone(API_SERVICE))
}

async function ensure(
  { store, ids, clock }: Parts,
  kind: Kind,
  wanted: Pick<UnknownObject, 'metadata'>,
): Promise<void> {
  const key = storeKeyOf(kind, wanted.metadata)
  if (await store.get(key)) return
  const metadata = { ...wanted.metadata, uid: ids.uid(), creationTimestamp: formatTime(clock.now()) }
  const object: UnknownObject = { ...wanted, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata }
  if (kind.kind === 'Namespace') strategyOf(kind).prepare?.(object, undefined)
  await store.commit({ key, expect: 0, value: textAt(object) })
}
