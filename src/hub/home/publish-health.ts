/**
 * Publishes the health of this hub on its API: a ConfigMap with one key for each hub, and an Event for each part that
 * was started again, each CA that expires within 90 days and each dialect that waits for the controllers of another
 * system. Nothing is written while nothing changes.
 */
import type { Client } from '../../client/client.ts'
import { createWakeup } from '../../core/async/wakeup.ts'
import { compact } from '../../core/compact.ts'
import { toError } from '../../core/errors.ts'
import { formatTime } from '../../core/time/time.ts'
import { VERSION } from '../../core/version.ts'
import { createEventRecorder } from '../../engine/event-recorder.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { authorityProblem, formatHubHealth, HUB_HEALTH, partNoun, peerProblem } from '../../plan/fleet/hub-health.ts'
import type { DialectPeer, HubAuthority } from '../../plan/fleet/hub-health.ts'
import type { HubPorts } from '../ports.ts'
import type { StorageWatch } from './storage-health.ts'
import type { Supervisor } from '../threads/supervisor.ts'

export interface HealthPublisherOptions extends HubPorts {
  readonly client: Client
  /** Name of this hub, unique among the hubs of the API. */
  readonly name: string
  readonly supervisor: Pick<Supervisor, 'health' | 'onChange'>
  /** The CAs that the hub issues certificates with now. */
  readonly authorities: () => readonly HubAuthority[]
  readonly storage: Pick<StorageWatch, 'current' | 'onChange'>
  /** Dialects and the controllers of their systems. Absent on the embedded home, which runs no other controllers. */
  readonly peers?: { peers(): readonly DialectPeer[]; onChange(changed: () => void): void } | undefined
}

const COMPONENT = 'flotilla-hub'
/** Changes come in groups: a part ends and starts again. */
const COALESCE_MS = 1_000
const RETRY_MS = 5_000
/** Restores what a user changed or deleted. */
const REPEAT_MS = 3_600_000

/** Publishes each change until the signal is aborted. Never rejects: the API may be the part that was started again. */
export async function publishHealth(options: HealthPublisherOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, log, name, supervisor } = options
  const startedAt = formatTime(clock.now())
  const events = createEventRecorder(options)
  const wakeup = createWakeup(clock)
  const told = new Map<string, number>()
  /** Ends of the CAs that an Event was written about. */
  const warned = new Set<string>()
  /** Problems with peers that an Event was written about; one that ends and comes again has another Event. */
  let peerTold = new Set<string>()
  supervisor.onChange(() => wakeup.notify())
  options.peers?.onChange(() => wakeup.notify())
  options.storage.onChange(() => wakeup.notify())

  async function publish(): Promise<void> {
    const parts = supervisor.health()
    const authorities = options.authorities()
    const peers = options.peers?.peers() ?? []
    const known = compact({ peers: peers.length > 0 ? peers : undefined, storage: options.storage.current() })
    const health = { version: VERSION, startedAt, parts, authorities, ...known }
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...HUB_HEALTH },
      data: { [name]: formatHubHealth(health) },
    }
    // Each hub has its own field manager, so that it leaves the keys of other hubs as they are.
    const written = await client.apply(ConfigMap, object, { fieldManager: `${COMPONENT}-${name}`, force: true, signal })
    for (const { name: part, restarts, last } of parts) {
      if (!last || told.get(part) === restarts) continue
      told.set(part, restarts)
      const message = `Hub ${JSON.stringify(name)}: ${partNoun(part)} was started again (restarts since the start of the hub: ${restarts}). Cause: ${last.message}.`
      await events.record(
        { ...object, metadata: written.metadata },
        [{ type: 'Warning', reason: 'PartRestarted', message }],
        COMPONENT,
      )
    }
    for (const authority of authorities) {
      const problem = authorityProblem(authority, clock.now())
      if (problem === undefined || warned.has(authority.notAfter)) continue
      warned.add(authority.notAfter)
      const message = `Hub ${JSON.stringify(name)}: ${problem}.`
      const event = { type: 'Warning', reason: 'AuthorityExpiring', message } as const
      await events.record({ ...object, metadata: written.metadata }, [event], COMPONENT)
    }
    const problems = peers.map(peerProblem)
    for (const problem of problems) {
      if (peerTold.has(problem)) continue
      const message = `Hub ${JSON.stringify(name)}: ${problem}.`
      const event = { type: 'Warning', reason: 'DialectMeetsPeer', message } as const
      await events.record({ ...object, metadata: written.metadata }, [event], COMPONENT)
    }
    peerTold = new Set(problems)
  }

  while (!signal.aborted) {
    try {
      await publish()
      await clock.sleep(COALESCE_MS, signal)
      await wakeup.wait(REPEAT_MS, signal)
    } catch (caught) {
      if (signal.aborted) return
      log.warn({ err: toError(caught) }, 'the health of the hub could not be published')
      await clock.sleep(RETRY_MS, signal).catch(() => {}) // aborted: the loop ends
    }
  }
}
