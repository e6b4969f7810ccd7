/**
 * Publishes the health of this hub on its API: a ConfigMap with one key for each hub, and an Event for each part that
 * was started again, each CA that expires within 90 days and each dialect that waits for the controllers of another
 * system. Nothing is written while nothing changes.
 */
import type { Client } from '../../client/client.ts'
import { deadline } from '../../core/async/deadline.ts'
import { createWakeup } from '../../core/async/wakeup.ts'
import { compact } from '../../core/compact.ts'
import { isApiError, toError } from '../../core/errors.ts'
import { formatTime } from '../../core/time/time.ts'
import { VERSION } from '../../core/version.ts'
import { createEventRecorder } from '../../engine/event-recorder.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import {
  authorityProblem,
  formatHubHealth,
  HUB_HEALTH,
  hubsWithoutTrust,
  partNoun,
  peerProblem,
  isGone,
  parseHubHealth,
} from '../../plan/fleet/hub-health.ts'
import type { DialectPeer, HubAuthority } from '../../plan/fleet/hub-health.ts'
import type { HubPorts } from '../ports.ts'
import type { StorageWatch } from './storage-health.ts'
import type { MaintenanceWatch } from './maintenance-watch.ts'
import type { KeyReloader } from '../keys/key-reloader.ts'
import type { Supervisor } from '../threads/supervisor.ts'

export interface HealthPublisherOptions extends HubPorts {
  readonly client: Client
  /** Name of this hub, unique among the hubs of the API. */
  readonly name: string
  readonly supervisor: Pick<Supervisor, 'health' | 'onChange'>
  /** Whether other hubs use the same API: then this hub says every minute that it runs, and at its end that it left. */
  readonly isShared?: boolean
  /** The version of the trust that all parts of this hub have. */
  readonly keys?: Pick<KeyReloader, 'spreadVersion' | 'onSpread'>
  readonly maintenance?: Pick<MaintenanceWatch, 'confirmed' | 'onConfirm'> | undefined
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
/** Longer than the time in which an equal Event is not written again. */
const EVENT_RETRY_MS = 15_000
/** Restores what a user changed or deleted. */
const REPEAT_MS = 3_600_000
const SHARED_REPEAT_MS = 60_000
const LEAVE_MS = 3_000

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
  options.keys?.onSpread(() => wakeup.notify())
  options.maintenance?.onConfirm(() => wakeup.notify())
  // Each hub has its own field manager, so that it leaves the keys of other hubs as they are.
  const fieldManager = `${COMPONENT}-${name}`

  /** Returns false when an Event is still to be written. */
  async function publish(): Promise<boolean> {
    const parts = supervisor.health()
    const authorities = options.authorities()
    const peers = options.peers?.peers() ?? []
    const health = compact({
      version: VERSION,
      startedAt,
      parts,
      at: options.isShared ? formatTime(clock.now()) : undefined,
      maintenance: options.maintenance?.confirmed(),
      trust: options.keys?.spreadVersion(),
      authorities,
      peers: peers.length > 0 ? peers : undefined,
      storage: options.storage.current(),
    })
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...HUB_HEALTH },
      data: { [name]: formatHubHealth(health) },
    }
    const written = await client.apply(ConfigMap, object, { fieldManager, force: true, signal })
    await forgetGone(written.data ?? {})
    const about = { ...object, metadata: written.metadata }
    const tell = async (reason: string, text: string): Promise<boolean> => {
      const message = `Hub ${JSON.stringify(name)}: ${text}.`
      const isWritten = await events.record(about, [{ type: 'Warning', reason, message }], COMPONENT)
      isAllTold &&= isWritten
      return isWritten
    }
    let isAllTold = true
    for (const { name: part, restarts, last } of parts) {
      if (!last || told.get(part) === restarts) continue
      const text = `${partNoun(part)} was started again (restarts since the start of the hub: ${restarts}). Cause: ${last.message}`
      if (await tell('PartRestarted', text)) told.set(part, restarts)
    }
    for (const authority of authorities) {
      const problem = authorityProblem(authority, clock.now())
      if (problem === undefined || warned.has(authority.notAfter)) continue
      if (await tell('AuthorityExpiring', problem)) warned.add(authority.notAfter)
    }
    const problems = peers.map(peerProblem)
    const known = new Set(problems.filter((problem) => peerTold.has(problem)))
    for (const problem of problems) {
      if (!known.has(problem) && (await tell('DialectMeetsPeer', problem))) known.add(problem)
    }
    peerTold = known
    return isAllTold
  }

  /** Removes what hubs published that are gone for a day. */
  async function forgetGone(data: Readonly<Record<string, string>>): Promise<void> {
    const gone = Object.entries(data).flatMap(([hub, text]) => {
      const health = parseHubHealth(text)
      return hub !== name && health && isGone(health, clock.now()) ? [[hub, null] as const] : []
    })
    if (gone.length === 0) return
    const patch = { type: 'merge', body: { data: Object.fromEntries(gone) } } as const
    await client.patch(ConfigMap, HUB_HEALTH, patch, { fieldManager, signal })
  }

  /** A hub that ends removes what it published. */
  async function leave(): Promise<void> {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...HUB_HEALTH }, data: {} }
    await deadline({ clock, ms: LEAVE_MS, what: 'leaving the published health' }, async (ended) => {
      await client.apply(ConfigMap, object, { fieldManager, force: true, signal: ended })
    }).catch((caught: unknown) => log.debug({ err: toError(caught) }, 'the published health stays'))
  }

  const repeatMs = options.isShared ? SHARED_REPEAT_MS : REPEAT_MS
  while (!signal.aborted) {
    try {
      const isAllTold = await publish()
      await clock.sleep(COALESCE_MS, signal)
      await wakeup.wait(isAllTold ? repeatMs : EVENT_RETRY_MS, signal)
    } catch (caught) {
      if (signal.aborted) break
      log.warn({ err: toError(caught) }, 'the health of the hub could not be published')
      await clock.sleep(RETRY_MS, signal).catch(() => {}) // aborted: the loop ends
    }
  }
  if (options.isShared) await leave()
}

/** The hubs of the API that do not have this version of the trust yet. */
export async function hubsLackingTrust(
  client: Pick<Client, 'get'>,
  { version, nowMs }: { readonly version: number; readonly nowMs: number },
): Promise<string[]> {
  try {
    const { data = {} } = await client.get(ConfigMap, HUB_HEALTH)
    const hubs = Object.entries(data).map(([name, text]) => ({ name, health: parseHubHealth(text) }))
    return hubsWithoutTrust(hubs, version, nowMs)
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return []
    throw caught
  }
}
