import { compact } from '../../core/compact.ts'
import { isApiError, toError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { ServerParts } from '../server/context.ts'
import { parseStored, storePrefix, readObject, storeKey, serializeObject } from '../storage/stored-object.ts'
import { internalAuditLine } from '../server/internal-audit-line.ts'
import type { InternalWriter } from '../server/internal-audit-line.ts'

/** What every namespace has from its first second on, as the controller manager of Kubernetes keeps it. */

/** What namespaces get besides the default service account. */
export interface NamespaceDefaults {
  /** PEM of the CA that proves this API. */
  readonly rootCa?: string
}

const RETRY_MS = 500
const ACCOUNT = 'default'
const ROOT_CA = 'kube-root-ca.crt'
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/** Runs until the signal is aborted; the promise never rejects. Without defaults it does nothing. */
export async function startNamespaceDefaults(
  parts: ServerParts,
  defaults: NamespaceDefaults | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { registry, log } = parts
  const namespaces = registry.find('', 'v1', 'namespaces')
  const accounts = registry.find('', 'v1', 'serviceaccounts')
  const maps = registry.find('', 'v1', 'configmaps')
  if (!defaults || !namespaces || !accounts || !maps) return
  const { rootCa } = defaults
  const namespaceKind = namespaces
  const content: readonly Wanted[] = [
    { kind: accounts, name: ACCOUNT, fields: {}, by: 'system:serviceaccount:kube-system:service-account-controller' },
    ...(rootCa === undefined ? [] : [rootCaMap(maps, rootCa)]),
  ]

  async function provide(namespace: string): Promise<void> {
    while (!signal.aborted) {
      try {
        const stored = await readObject(parts.store, namespaceKind, { name: namespace })
        if (!stored || stored.object.metadata.deletionTimestamp) return
        const done = await Promise.all(content.map((wanted) => ensure(parts, namespace, wanted)))
        if (done.every(Boolean)) return
      } catch (error) {
        log.error({ err: toError(error), namespace }, 'defaults of the namespace could not be created')
        await pause(parts, signal)
      }
    }
  }

  await Promise.all([
    follow(parts, storePrefix(namespaces), signal, (key, value) => {
      if (value !== undefined && !parseStored(value).metadata.deletionTimestamp) return provide(lastOf(key))
      return undefined
    }),
    // A deleted or changed default is written again.
    ...content.map(({ kind, name }) =>
      follow(parts, storePrefix(kind), signal, (key, value, isFirst) => {
        if (isFirst || lastOf(key) !== name || (value !== undefined && kind === accounts)) return undefined
        return provide(key.slice(storePrefix(kind).length, -name.length - 1))
      }),
    ),
  ])
}

interface Wanted {
  readonly kind: Kind
  readonly name: string
  readonly fields: object
  readonly by: InternalWriter
}

function rootCaMap(kind: Kind, rootCa: string): Wanted {
  const by = 'system:serviceaccount:kube-system:root-ca-cert-publisher'
  return { kind, name: ROOT_CA, fields: { data: { 'ca.crt': rootCa } }, by }
}

type Seen = (key: string, value: string | undefined, isFirst: boolean) => Promise<void> | undefined

/** Calls back for every object under a prefix, and then for each change in order. */
async function follow(parts: ServerParts, prefix: string, signal: AbortSignal, seen: Seen): Promise<void> {
  const { store, log } = parts
  while (!signal.aborted) {
    try {
      const { entries, revision } = await store.list({ prefix })
      for (const { key, value } of entries) await seen(key, value, true)
      for await (const { key, value } of store.watch(prefix, revision, signal)) await seen(key, value, false)
      return // without an abort the store itself was closed
    } catch (error) {
      if (!isApiError(error, 'Expired')) log.error({ err: toError(error), prefix }, 'watch for defaults failed')
      await pause(parts, signal)
    }
  }
}

/** False when another write came first. */
async function ensure({ store, ids, clock }: ServerParts, namespace: string, { kind, name, fields, by }: Wanted) {
  const stored = await readObject(store, kind, { namespace, name })
  if (stored && Object.entries(fields).every(([field, value]) => jsonEqual(stored.object[field], value))) return true
  const metadata =
    stored?.object.metadata ??
    compact({
      name,
      namespace,
      uid: ids.uid(),
      creationTimestamp: formatTime(clock.now()),
      annotations: name === ROOT_CA ? { 'kubernetes.io/description': DESCRIPTION } : undefined,
    })
  const object: UnknownObject = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    ...stored?.object,
    metadata: { ...metadata },
    ...fields,
  }
  const audit = internalAuditLine({ clock }, by, { kind, object, verb: stored ? 'update' : 'create' })
  const key = storeKey(kind, { namespace, name })
  const result = await store.commit({ key, expect: stored?.revision ?? 0, value: serializeObject(object), audit })
  return result.ok
}

function lastOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

async function pause({ clock }: ServerParts, signal: AbortSignal): Promise<void> {
  await clock.sleep(RETRY_MS, signal).catch(() => {})
}
