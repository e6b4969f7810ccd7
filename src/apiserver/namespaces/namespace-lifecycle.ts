import { isApiError, toError } from '../../core/errors.ts'
import type { Caller } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { isGone } from '../verbs/commit-change.ts'
import type { Parts } from '../server/context.ts'
import { remainingContent, terminationStatus } from './termination-status.ts'
import { contextOfSelf } from '../server/internal-context.ts'
import { ownAuditLine } from '../server/internal-audit-line.ts'
import { parseStored, prefixOf, readObject, storeKeyOf, textAt } from '../storage/stored-object.ts'
import type { Stored } from '../storage/stored-object.ts'
import { deleteObject } from '../verbs/delete.ts'

/** Empties namespaces that are being deleted and then lets them go. */

const RETRY_MS = 500
const SELF = {
  user: 'system:serviceaccount:kube-system:namespace-controller',
  groups: ['system:masters'],
} as const satisfies Caller

/** Runs until the signal is aborted; the promise never rejects. */
export async function startNamespaceLifecycle(parts: Parts, signal: AbortSignal): Promise<void> {
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
      const prefix = prefixOf(namespaces)
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

async function terminate(parts: Parts, namespaces: Kind, name: string, signal: AbortSignal): Promise<void> {
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
async function deleteContent(parts: Parts, namespace: string, signal: AbortSignal): Promise<void> {
  const pods = parts.registry.find('', 'v1', 'pods')
  if (pods) {
    await deleteAll(parts, pods, namespace, signal)
    const { entries } = await parts.store.list({ prefix: prefixOf(pods, namespace), limit: 1 })
    if (entries.length > 0) return
  }
  for (const kind of parts.registry.all()) {
    if (kind.scope === 'Namespaced') await deleteAll(parts, kind, namespace, signal)
  }
}

async function write(parts: Parts, kind: Kind, stored: Stored, next: UnknownObject): Promise<boolean> {
  const isOver = isGone({ kind }, next)
  const result = await parts.store.commit({
    key: storeKeyOf(kind, { name: next.metadata.name }),
    expect: stored.revision,
    value: isOver ? undefined : textAt({ ...next, metadata: { ...next.metadata } }),
    audit: ownAuditLine(parts, SELF.user, { kind, object: next, verb: isOver ? 'delete' : 'update' }),
  })
  return result.ok
}

function withoutFinalizer(object: UnknownObject): UnknownObject {
  const spec = isObject(object['spec']) ? object['spec'] : {}
  const finalizers = Array.isArray(spec['finalizers']) ? spec['finalizers'] : []
  return { ...object, spec: { ...spec, finalizers: finalizers.filter((finalizer) => finalizer !== 'kubernetes') } }
}

async function deleteAll(parts: Parts, kind: Kind, namespace: string, signal: AbortSignal): Promise<void> {
  const { entries } = await parts.store.list({ prefix: prefixOf(kind, namespace) })
  for (const entry of entries) {
    const { metadata } = parseStored(entry.value)
    if (metadata.deletionTimestamp) continue
    try {
      await deleteObject(contextOfSelf(parts, kind, { namespace, signal, caller: SELF }), metadata, {
        dryRun: false,
        propagationPolicy: 'Background',
      })
    } catch (error) {
      if (!isApiError(error, 'NotFound')) throw error
    }
  }
}

async function pause({ clock }: Parts, signal: AbortSignal): Promise<void> {
  await clock.sleep(RETRY_MS, signal).catch(() => {})
}
