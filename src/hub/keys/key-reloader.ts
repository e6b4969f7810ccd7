/**
 * The hub's keys while it runs. They are read again every few seconds, so that `flotilla trust` works on a running
 * hub, and certificates of its listeners are made anew long before they run out: no restart is ever needed for a key.
 */
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import type { HubTrust } from '../../wire/trust/hub-keys.ts'
import type { HubKeys } from './hub-keys.ts'

/** What keeping needs. */
export interface KeyReloaderOptions {
  readonly clock: Clock
  readonly log: Logger
  /** The keys as they are on disk now. */
  readonly read: () => Promise<HubKeys>
  /** Passes new keys and certificates to all parts that use them. */
  readonly spread: (keys: HubKeys) => Promise<void>
  /**
   * Other processes of the hub that do not have this version of the trust yet. New keys sign nothing until there are
   * none, because agents of these processes could not verify it. If omitted, there are no others.
   */
  readonly lacking?: (trustVersion: number) => Promise<readonly string[]>
  /** How old certificates of listeners may become. */
  readonly renewMs?: number
}

/** Keys that may change. */
export interface KeyReloader {
  current(): HubKeys
  /** The version of the trust that all parts of this process have. */
  spreadVersion(): number
  /** Calls back when all parts of this process have another version. */
  onSpread(spread: () => void): void
  /** The trust, read anew with each use. */
  readonly trust: Pick<HubTrust, 'signer' | 'newest'>
  /** Calls back after each change; returns how to stop that. */
  onChange(changed: () => void): () => void
  /** Until the signal is aborted; never rejects. */
  run(signal: AbortSignal): Promise<void>
}

const LOOK_MS = 3000
const RENEW_MS = 30 * 86_400_000

/** Keeps keys, beginning with these. */
export function createKeyReloader(
  first: HubKeys,
  { clock, log, read, spread, lacking = async () => [], renewMs = RENEW_MS }: KeyReloaderOptions,
): KeyReloader {
  let current = first
  let everywhere = first
  let waitedFor = ''
  let spreadAt = clock.monotonicMs()
  let complained = ''
  const listeners = new Set<() => void>()
  const spreadListeners: (() => void)[] = []

  async function look(): Promise<void> {
    const found = await read()
    const isNew = !jsonEqual(factsOf(found), factsOf(current))
    const isOld = clock.monotonicMs() - spreadAt >= renewMs
    if (isOld || !jsonEqual(factsOf(found), factsOf(everywhere))) {
      // The gateways first: they must know a new CA or signer before anything is signed by it.
      await spread(found)
      everywhere = found
      spreadAt = clock.monotonicMs()
      for (const listener of spreadListeners) listener()
    }
    if (!isNew || (await isAwaited(found.trust.newest.bundle.version))) return
    current = found
    for (const changed of listeners) changed()
    log.info({ trust: found.trust.newest.bundle.version, epoch: found.trust.newest.bundle.epoch }, 'trust changed')
  }

  /** Whether other processes lack this version. */
  async function isAwaited(trustVersion: number): Promise<boolean> {
    const names = (await lacking(trustVersion)).join(', ')
    if (names !== '' && names !== waitedFor)
      log.info({ trust: trustVersion, hubs: names }, 'new keys sign nothing until all processes of the hub have them')
    waitedFor = names
    return names !== ''
  }

  return {
    current: () => current,
    spreadVersion: () => everywhere.trust.newest.bundle.version,
    onSpread: (listener) => void spreadListeners.push(listener),
    onChange(changed) {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    trust: {
      get signer() {
        return current.trust.signer
      },
      get newest() {
        return current.trust.newest
      },
    },
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(LOOK_MS, signal).catch(() => {})
        if (signal.aborted) return
        await look().then(
          () => (complained = ''),
          (caught: unknown) => {
            // A user may be changing the files now; the present keys stay in use.
            const { message } = toError(caught)
            if (message !== complained)
              log.warn({ err: toError(caught) }, 'the keys on disk cannot be used; keeping those in use')
            complained = message
          },
        )
      }
    },
  }
}

function factsOf({ trust }: HubKeys): object {
  return { signer: trust.signer.keyId, ca: trust.transportCa.certificate, digest: trust.newest.digest }
}
