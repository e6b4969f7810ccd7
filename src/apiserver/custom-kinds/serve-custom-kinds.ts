import { compact } from '../../core/compact.ts'
import { ApiError, isApiError, toError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import { CustomResourceDefinition } from '../../kinds/builtin/apiextensions.ts'
import { crdToKinds } from '../../kinds/crd/custom-kind.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { ServerParts } from '../server/context.ts'
import { acceptedNames, CLEANUP_FINALIZER, conditionsOf, withCondition } from './crd-status.ts'
import { followKind } from '../storage/follow-kind.ts'
import type { RunningFollower } from '../storage/follow-kind.ts'
import { internalAuditLine } from '../server/internal-audit-line.ts'
import { parseStored, storePrefix, readObject, storeKey, serializeObject } from '../storage/stored-object.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { internalContext } from '../server/internal-context.ts'
import type { CustomRegistry } from '../server/registry.ts'
import { deleteObject } from '../verbs/delete.ts'

/** Serves the kinds that CustomResourceDefinitions define, from the moment they are written until they are gone. */

const RETRY_MS = 500
const PAGE = 500
const WATCH_GRACE_MS = 200
const SELF = 'system:apiserver'

/** Follows definitions until the signal is aborted; it is ready once every definition that exists is served. */
export function startCustomKinds(parts: ServerParts, registry: CustomRegistry, signal: AbortSignal): RunningFollower {
  if (!registry.fixedAt(CustomResourceDefinition)) return { ready: Promise.resolve(), done: Promise.resolve() }
  const following: Following = { parts, registry, signal, served: new Map(), cleaning: new Map() }
  const { ready, done } = followKind(
    parts,
    CustomResourceDefinition,
    {
      saw: (object) => saw(following, object as unknown as CustomResourceDefinition),
      lost: (name) => lost(following, name),
    },
    signal,
  )
  return { ready, done: done.then(async () => void (await Promise.all(following.cleaning.values()))) }
}

interface Following {
  readonly parts: ServerParts
  readonly registry: CustomRegistry
  readonly signal: AbortSignal
  /** By name of the definition: the definition it was last served as, and its kinds. */
  readonly served: Map<string, { readonly crd: CustomResourceDefinition; readonly kinds: readonly Kind[] }>
  readonly cleaning: Map<string, Promise<void>>
}

async function saw(following: Following, crd: CustomResourceDefinition): Promise<void> {
  const { parts, served } = following
  const { name, deletionTimestamp } = crd.metadata
  const others = [...served].flatMap(([other, { kinds }]) => (other === name ? [] : kinds))
  const names = acceptedNames(crd, [...following.registry.fixed(), ...others])
  const status = conditionsOf(crd, names, formatTime(parts.clock.now()))
  const isServed = status.conditions.some(({ type, status: is }) => type === 'Established' && is === 'True')
  const before = served.get(name)
  const isSame =
    before && jsonEqual(before.crd.spec, crd.spec) && before.crd.metadata.deletionTimestamp === deletionTimestamp
  if (isServed && !isSame) served.set(name, { crd, kinds: crdToKinds(crd) })
  if (!isServed) served.delete(name)
  if (!isSame) publish(following)
  if (!jsonEqual(status, crd.status)) await writeStatus(following, crd, status)
  if (deletionTimestamp !== undefined && !following.cleaning.has(name)) {
    const work = cleanUp(following, name).finally(() => following.cleaning.delete(name))
    following.cleaning.set(name, work)
  }
}

function lost(following: Following, name: string): void {
  if (following.served.delete(name)) publish(following)
}

function publish({ registry, served, parts, signal }: Following): void {
  const endWatches = registry.setCustom([...served.values()].flatMap(({ kinds }) => kinds))
  // Watches first tell what became of the objects.
  void parts.clock.sleep(WATCH_GRACE_MS, signal).then(endWatches, endWatches)
}

async function writeStatus({ parts }: Following, crd: CustomResourceDefinition, status: object): Promise<void> {
  const stored = await readObject(parts.store, CustomResourceDefinition, crd.metadata)
  // Another write came first: its event comes next.
  if (!stored || stored.object.metadata.resourceVersion !== crd.metadata.resourceVersion) return
  await write(parts, stored, { ...stored.object, status })
}

async function write(
  parts: ServerParts,
  stored: StoredObject,
  next: StoredObject['object'],
  isGone = false,
): Promise<boolean> {
  const result = await parts.store.commit({
    key: storeKey(CustomResourceDefinition, { name: next.metadata.name }),
    expect: stored.revision,
    value: isGone ? undefined : serializeObject({ ...next, metadata: { ...next.metadata } }),
    audit: internalAuditLine(parts, SELF, {
      kind: CustomResourceDefinition,
      object: next,
      verb: isGone ? 'delete' : 'update',
    }),
  })
  return result.ok
}

/** Deletes all objects of a definition that is being deleted, and then lets it go. */
async function cleanUp({ parts, registry, signal, served }: Following, name: string): Promise<void> {
  while (!signal.aborted) {
    try {
      const stored = await readObject(parts.store, CustomResourceDefinition, { name })
      if (!stored?.object.metadata.deletionTimestamp) return
      if (!stored.object.metadata.finalizers?.includes(CLEANUP_FINALIZER)) return
      const crd = stored.object as unknown as CustomResourceDefinition
      const kind = served.get(name)?.kinds[0] ?? crdToKinds(crd)[0]
      const left = kind && registry.fixedAt(kind) === undefined ? await deleteAll(parts, kind, signal) : 0
      const now = formatTime(parts.clock.now())
      if (left === 0) {
        const finalizers = stored.object.metadata.finalizers.filter((finalizer) => finalizer !== CLEANUP_FINALIZER)
        const next = { ...stored.object, metadata: { ...stored.object.metadata, finalizers } }
        if (await write(parts, stored, next, finalizers.length === 0)) return
      } else {
        const status = withCondition(crd.status ?? {}, now, {
          type: 'Terminating',
          status: 'True',
          reason: 'InstanceDeletionInProgress',
          message: `CustomResource deletion is in progress: ${left} remaining`,
        })
        if (!jsonEqual(status, crd.status)) await write(parts, stored, { ...stored.object, status })
      }
    } catch (error) {
      parts.log.error({ err: toError(error), definition: name }, 'objects of a definition could not be deleted')
    }
    await parts.clock.sleep(RETRY_MS, signal).catch(() => {})
  }
}

/** Deletes what is there; returns how many are still there because of finalizers. */
async function deleteAll(parts: ServerParts, kind: Kind, signal: AbortSignal): Promise<number> {
  let left = 0
  let after: string | undefined
  for (;;) {
    const page = await parts.store.list(
      compact({
        prefix: storePrefix(kind),
        limit: PAGE,
        after,
      }),
    )
    for (const entry of page.entries) {
      const { metadata } = parseStored(entry.value)
      try {
        const context = internalContext(parts, kind, { namespace: metadata.namespace, signal })
        const { gone } = await deleteObject(context, metadata, { dryRun: false })
        if (!gone) left++
      } catch (error) {
        if (!isApiError(error, 'NotFound')) throw error
      }
      after = entry.key
    }
    if (page.entries.length < PAGE) return left
  }
}

/** The refusal of a create while the definition is going. */
export function refuseTerminating(kind: Kind): void {
  if (kind.custom?.isTerminating) {
    throw new ApiError('MethodNotAllowed', 'create not allowed while custom resource definition is terminating')
  }
}
