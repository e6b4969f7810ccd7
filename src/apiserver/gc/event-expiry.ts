/** Events go after an hour, as on a kube-apiserver: they are news, not a record. */
import { isApiError, toError } from '../../core/errors.ts'
import { parseTime } from '../../core/time/time.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { ServerParts } from '../server/context.ts'
import { parseStored, storePrefix } from '../storage/stored-object.ts'
import { internalContext } from '../server/internal-context.ts'
import { deleteObject } from '../verbs/delete.ts'

/** How long an Event is kept after it was last seen. */
const EVENT_TTL_MS = 3_600_000
const LOOK_MS = 300_000

/** Runs until the signal is aborted; the promise never rejects. */
export async function startEventExpiry(parts: ServerParts, signal: AbortSignal): Promise<void> {
  const kind = parts.registry.find('', 'v1', 'events')
  if (!kind) return
  while (!signal.aborted) {
    await parts.clock.sleep(LOOK_MS, signal).catch(() => {})
    if (signal.aborted) return
    try {
      const { entries } = await parts.store.list({ prefix: storePrefix(kind) })
      for (const entry of entries) {
        const event = parseStored(entry.value)
        if (lastSeen(event) + EVENT_TTL_MS > parts.clock.now()) continue
        const { namespace } = event.metadata
        await deleteObject(internalContext(parts, kind, { namespace, signal }), event.metadata, {
          dryRun: false,
        }).catch((caught: unknown) => {
          if (!isApiError(caught, 'NotFound')) throw caught
        })
      }
    } catch (caught) {
      if (!signal.aborted) parts.log.error({ err: toError(caught) }, 'old events could not be removed')
    }
  }
}

function lastSeen(event: UnknownObject): number {
  const { series, lastTimestamp, eventTime } = event as {
    readonly series?: { readonly lastObservedTime?: string | null }
    readonly lastTimestamp?: string | null
    readonly eventTime?: string | null
  }
  const times = [series?.lastObservedTime, lastTimestamp, eventTime, event.metadata.creationTimestamp]
  return Math.max(...times.map((text) => parseTime(text ?? '') ?? 0))
}
