import { isApiError, toError } from '../../core/errors.ts'
import type { Caller } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { isFullyDeleted } from '../verbs/commit-change.ts'
import type { ServerParts } from '../server/context.ts'
import { remainingContent, terminationStatus } from './termination-status.ts'
import { internalContext } from '../server/internal-context.ts'
import { internalAuditLine } from '../server/internal-audit-line.ts'
import { parseStored, storePrefix, readObject, storeKey, serializeObject } from '../storage/stored-object.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { deleteObject } from '../verbs/delete.ts'

/** Empties namespaces that are being deleted and then lets them go. */

const RETRY_MS = 500
const SELF = {
  user: 'system:serviceaccount:kube-system:namespace-controller',
  groups: ['system:masters'],
} as const satisfies Caller

/** Runs until the signal is aborted; the promise never rejects. */
export async function startNamespaceLifecycle(parts: ServerParts, signal: AbortSignal): Promise<void> {
  const namespaces = parts.registry.find('', 'v1', 'namespaces')
  if (!namespaces) return
  const terminating = new Set<string>()
  const running = new Map<string, Promise<void>>()
  const begin = (name: string) => {
    if (terminating.has(name)) return
    terminating.add(name)
    const work = terminate(parts, namespaces, name, signal).finally(() => {
      terminating.delete(name)
      running.delete(name)
    })
    running.set(name, work)
  }
  const consider = (text: string) => {
    const { metadata } = parseStored(text)
    if (metadata.deletionTimestamp) begin(metadata.name)
  }
  while (!signal.aborted) {
    try {
      const prefix = storePrefix(namespaces)
      const present = await parts.store.list({ prefix })
      for (const entry of present.entries) consider(entry.value)
      for await (const event of parts.store.watch(prefix, present.revision, signal)) {
        if (event.value !== undefined) consider(event.value)
      }
      // Without an abort the store itself was closed.
      break
    } catch (error) {
      if (!isApiError(error, 'Expired')) parts.log.error({ err: toError(error) }, 'namespace watch failed')
      await pause(parts, signal)
    }
  }
  await Promise.all(running.values())
}

async function terminate(parts: ServerParts, namespaces: Kind, name: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const stored = await readObject(parts.store, namespaces, { name })
      if (!stored?.object.metadata.deletionTimestamp) return
      await deleteContent(parts, name, signal)
      const remaining = await remainingContent(parts, name)
      if (remaining.length === 0) {
        const released = withoutFinalizer(stored.object)
        if (await write(parts, namespaces, stored, released)) return
      } else {
        const status = terminationStatus(stored.object['status'], remaining, parts.clock.now())
        if (status) await write(parts, namespaces, stored, { ...stored.object, status })
      }
    } catch (error) {
      parts.log.error({ err: toError(error), namespace: name }, 'namespace could not be emptied')
    }
    await pause(parts, signal)
  }
}

/** Pods go first, and nothing else before they are gone: they may need the rest until their end. */
async function deleteContent(parts: ServerParts, namespace: string, signal: AbortSignal): Promise<void> {
  const pods = parts.registry.find('', 'v1', 'pods')
  if (pods) {
    await deleteAll(parts, pods, namespace, signal)
    const { entries } = await parts.store.list({ prefix: storePrefix(pods, namespace), limit: 1 })
    if (entries.length > 0) return
  }
  for (const kind of parts.registry.all()) {
    if (kind.scope === 'Namespaced') await deleteAll(parts, kind, namespace, signal)
  }
}

async function write(parts: ServerParts, kind: Kind, stored: StoredObject, next: UnknownObject): Promise<boolean> {
  const isOver = isFullyDeleted({ kind }, next)
  const result = await parts.store.commit({
    key: storeKey(kind, { name: next.metadata.name }),
    expect: stored.revision,
    value: isOver ? undefined : serializeObject({ ...next, metadata: { ...next.metadata } }),
    audit: internalAuditLine(parts, SELF.user, { kind, object: next, verb: isOver ? 'delete' : 'update' }),
  })
  return result.ok
}

function withoutFinalizer(object: UnknownObject): UnknownObject {
  const spec = isObject(object['spec']) ? object['spec'] : {}
  const finalizers = Array.isArray(spec['finalizers']) ? spec['finalizers'] : []
  return { ...object, spec: { ...spec, finalizers: finalizers.filter((finalizer) => finalizer !== 'kubernetes') } }
}

async function deleteAll(parts: ServerParts, kind: Kind, namespace: string, signal: AbortSignal): Promise<void> {
  const { entries } = await parts.store.list({ prefix: storePrefix(kind, namespace) })
  for (const entry of entries) {
    const { metadata } = parseStored(entry.value)
    if (metadata.deletionTimestamp) continue
    try {
      await deleteObject(internalContext(parts, kind, { namespace, signal, caller: SELF }), metadata, {
        dryRun: false,
        propagationPolicy: 'Background',
      })
    } catch (error) {
      if (!isApiError(error, 'NotFound')) throw error
    }
  }
}

async function pause({ clock }: ServerParts, signal: AbortSignal): Promise<void> {
  await clock.sleep(RETRY_MS, signal).catch(() => {})
}
