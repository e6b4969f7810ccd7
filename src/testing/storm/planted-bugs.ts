/**
 * Mistakes that only trouble brings to light, one for each fault a bad day can have: a fleet with one of them does well
 * until that fault strikes. A fault under which nothing can go wrong proves nothing.
 */
import { storePrefix, serializeObject } from '../../apiserver/storage/stored-object.ts'
import type { Transport } from '../../core/http.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Lease } from '../../kinds/builtin/coordination.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import type { Host } from '../../sim/kernel/process.ts'
import type { Store, StoreWrite } from '../../store/store.ts'
import { LIVENESS_ANNOTATION } from '../../wire/link/liveness.ts'
import type { Liveness } from '../../wire/link/liveness.ts'
import { listStored, recheckOnWrite } from '../simulation/fleet-invariants.ts'
import { release } from './storm.ts'
import type { StormOptions } from './storm.ts'
import { releaseCuttingOff, delayWatches, falseReadyReports, relabel } from './faults.ts'
import type { StormRun, Fault } from './faults.ts'
import { retryUntilAccepted } from '../simulation/until-accepted.ts'
import { tamper } from '../simulation/tamper.ts'

const MINUTE = 60_000
const ONE = 'store-2'
const REST = ['store-2', 'store-3', 'store-4']

/** A fleet with a mistake, and the fault that shows it. */
export interface PlantedBug {
  readonly fault: Fault | 'crash'
  readonly name: string
  /** What is said about it: a pattern. */
  readonly breaks: string
  readonly plantedBugs?: StormOptions['mistakes']
  /** The fault strikes. */
  readonly strikes: (day: StormRun) => Promise<void>
}

/** One for each fault; each is to be used once, for some remember. */
export function mistakes(): readonly PlantedBug[] {
  return [
    neverAsksAgain(),
    countsAnew(),
    losesItsLastWrite(),
    countsByTheWall(),
    buriesNothing(),
    overwritesWhatOthersWrote(),
    liesUnknown(),
    {
      fault: 'region',
      name: 'a hub that lets all returning clusters begin',
      breaks: 'I-04: 3 of ring rest are unwell with a budget of 2',
      plantedBugs: { behaviourOf: brokenInRest },
      strikes: async ({ world, fleet }) => {
        const ends = REST.map((name) => ({ from: `agent-of-${name}`, to: 'gateway' }))
        for (const one of ends) world.network.cut(one)
        await release(world, fleet, '5.0-bad')
        await world.run(5 * MINUTE)
        await tamper(fleet.hubStore, Rollout, (rollout) => ({
          ...rollout,
          spec: {
            ...rollout.spec,
            rings: rollout.spec.rings.map((ring) => ({ ...ring, concurrency: 10, maxFailed: 10 })),
          },
        }))
        for (const one of ends) world.network.heal(one)
        await world.run(2 * MINUTE)
      },
    },
    countsItsOwnSilence(),
    {
      fault: 'cut off',
      name: 'a hub that takes silent clusters for Ready',
      breaks: 'I-04: 3 of ring rest are unwell with a budget of 2',
      strikes: async (day) => {
        const { world, fleet } = day
        const over = new AbortController()
        for (const member of fleet.members) releaseCuttingOff(day, member, over.signal).catch(() => {}) // until the fault ends
        await release(world, fleet, '5.0-cut')
        for (let round = 0; round < 20; round++) {
          await world.run(5_000)
          const documents = await listStored(fleet.hubStore, Assignment)
          await tamper(fleet.hubStore, ClusterReport, (report) => {
            const mine = documents.find(({ metadata }) => metadata.name === report.metadata.name)
            const bundles = (mine?.spec.entries ?? []).map(({ bundle, generation, set }) => ({
              bundle,
              generation,
              set,
              state: 'Ready' as const,
            }))
            const isCut = world.network.isCut({ from: `agent-of-${report.metadata.name}`, to: 'gateway' })
            return isCut ? { ...report, spec: { ...report.spec, bundles } } : report
          })
        }
        over.abort()
      },
    },
    seesNoFailure(),
  ]
}

const brokenInRest = (name: string) => ({ isBroken: (image: string) => image.includes('bad') && REST.includes(name) })

function liesUnknown(): PlantedBug {
  let lies = false
  return {
    fault: 'liar',
    name: 'an agent that reports Ready, and no check knows that it lies',
    breaks: `I-14: ${ONE} is Ready at generation \\d+, and never was well`,
    plantedBugs: {
      behaviourOf: brokenInRest,
      betweenOf: (name, gateway) => (name === ONE ? falseReadyReports(gateway, () => lies) : gateway),
    },
    strikes: async ({ world, fleet }) => {
      lies = true
      await release(world, fleet, '5.0-bad')
      await world.run(3 * MINUTE)
    },
  }
}

function neverAsksAgain(): PlantedBug {
  let isLossy = false
  let hasGivenUp = false
  const once: (gateway: Transport) => Transport = (gateway) => async (request, signal) => {
    if (hasGivenUp) return new Promise<never>(() => {})
    return gateway(request, signal).catch((caught: unknown) => {
      hasGivenUp = isLossy
      throw caught
    })
  }
  return {
    fault: 'drops',
    name: 'an agent that never asks again after a question was lost',
    breaks: 'I-12: version 9.0 everywhere: not within',
    plantedBugs: { betweenOf: (name, gateway) => (name === ONE ? once(gateway) : gateway) },
    strikes: async ({ world }) => {
      isLossy = true
      world.network.setDefaultLink({ latencyMs: [1, 400], drop: 0.2, reset: 0.1 })
      await world.run(2 * MINUTE)
      world.network.calm()
    },
  }
}

function countsAnew(): PlantedBug {
  const anew = changing(Assignment, (object) => ({ ...object, spec: { ...(object['spec'] as object), revision: 1 } }))
  return {
    fault: 'kills',
    name: 'a hub that counts its documents anew each time it starts',
    breaks: 'I-11: store-\\d went back to revision 1',
    plantedBugs: { hubStoreOf: (store, incarnation) => (incarnation === 1 ? store : anew(store)) },
    strikes: async ({ world, fleet }) => {
      await release(world, fleet, '5.0')
      await world.run(MINUTE)
      fleet.hub.kill()
      fleet.hub.start()
      await release(world, fleet, '6.0')
      await world.run(MINUTE)
    },
  }
}

function losesItsLastWrite(): PlantedBug {
  /** What the last document said before it was written. */
  let before: { readonly key: string; readonly text: string } | undefined
  const forgetful = (store: Store, incarnation: number): Store => {
    const back = incarnation > 1 ? before : undefined
    const begins = back && store.get(back.key).then((is) => put(store, back.key, is?.modRevision ?? 0, back.text))
    return {
      ...store,
      list: async (range) => {
        await begins
        return store.list(range)
      },
      commit: async (write) => {
        if (isOf(Assignment, write.key)) {
          const was = await store.get(write.key)
          before = was && { key: was.key, text: was.value }
        }
        return store.commit(write)
      },
    }
  }
  return {
    fault: 'crash',
    name: 'a database that loses the last write that it has confirmed',
    breaks: 'I-11: store-\\d went back to revision',
    plantedBugs: { hubStoreOf: forgetful },
    strikes: async ({ world, fleet }) => {
      const { revision } = (await listStored(fleet.hubStore, Assignment))[0]!.spec
      await release(world, fleet, '5.0')
      const isWritten = async () => (await listStored(fleet.hubStore, Assignment))[0]!.spec.revision > revision
      await world.runUntil(recheckOnWrite(fleet.hubStore, isWritten), { withinMs: 10 * MINUTE, what: 'a document' })
      fleet.hub.kill()
      fleet.hub.start()
      await world.run(MINUTE)
    },
  }
}

function seesNoFailure(): PlantedBug {
  const rosy = changing(ClusterReport, (object) => {
    const spec = object['spec'] as ClusterReport['spec']
    return { ...object, spec: { ...spec, bundles: spec.bundles.map((row) => ({ ...row, state: 'Ready' as const })) } }
  })
  return {
    fault: 'bad site',
    name: 'a hub that takes Failed for Ready',
    breaks: 'I-04: 3 of ring rest are unwell with a budget of 2',
    plantedBugs: {
      behaviourOf: brokenInRest,
      hubStoreOf: (store, incarnation) => (incarnation === 1 ? store : rosy(store)),
    },
    strikes: async ({ world, fleet }) => {
      fleet.hub.kill()
      fleet.hub.start()
      await release(world, fleet, '5.0-bad')
      await world.run(3 * MINUTE)
    },
  }
}

/** Changes what gateways say about who was heard. */
function tellsOf(change: (told: Liveness) => Liveness): (store: Store) => Store {
  return changing(Lease, (object) => {
    const { annotations = {} } = object.metadata
    const summary = annotations[LIVENESS_ANNOTATION]
    if (summary === undefined) return object
    const told = JSON.stringify(change(JSON.parse(summary) as Liveness))
    return {
      ...object,
      metadata: { ...object.metadata, annotations: { ...annotations, [LIVENESS_ANNOTATION]: told } },
    }
  })
}

const agesOf = (seen: Liveness['seen'], age: (id: string, seconds: number) => number): Liveness['seen'] =>
  Object.fromEntries(Object.entries(seen).map(([id, seconds]) => [id, age(id, seconds)]))

function countsByTheWall(): PlantedBug {
  let clock: StormRun['world']['clock'] | undefined
  const heardAt = new Map<string, number>()
  const byTheWall = tellsOf(({ up, seen }) => {
    if (!clock) return { up, seen }
    const now = clock.now()
    const age = (id: string, seconds: number) => {
      // A cluster that was heard since the last summary was heard before the clock was set.
      const before = heardAt.get(id) ?? now
      heardAt.set(id, now - seconds * 1000)
      return seconds < 10 ? Math.max(seconds, Math.floor((now - before) / 1000) - 10) : seconds
    }
    return { up: 1_000_000, seen: agesOf(seen, age) }
  })
  return {
    fault: 'clocks',
    name: 'a gateway that counts silence by the clock on the wall',
    breaks: 'I-15: store-\\d is offline after',
    plantedBugs: { hubStoreOf: byTheWall },
    strikes: async ({ world }) => {
      clock = world.clock
      await world.run(2 * MINUTE)
      world.clock.jumpWall(5 * MINUTE)
      await world.run(MINUTE)
    },
  }
}

function buriesNothing(): PlantedBug {
  const withoutGraves = changing(Assignment, (object) => {
    const { tombstones: _, ...spec } = object['spec'] as Record<string, unknown>
    return { ...object, spec }
  })
  return {
    fault: 'members',
    name: 'a hub that takes a bundle away without a tombstone',
    breaks: `I-08: default/shop vanished from ${ONE}`,
    plantedBugs: { hubStoreOf: withoutGraves },
    strikes: async ({ world, fleet }) => {
      await retryUntilAccepted(world, 'labels', () => relabel(fleet, ONE, { tier: 'elsewhere' }))
      await world.run(MINUTE)
    },
  }
}

function overwritesWhatOthersWrote(): PlantedBug {
  return {
    fault: 'second hub',
    name: 'a leader that hears late of documents, and writes them without looking',
    breaks: 'I-(11|24): ',
    strikes: async ({ world, fleet }) => {
      const revisions: { readonly atMs: number; readonly revision: number }[] = []
      const yesterday = () =>
        revisions.findLast(({ atMs }) => atMs <= world.clock.monotonicMs() - MINUTE)?.revision ?? revisions[0]!.revision
      const isDocument = (key: string) => key.startsWith(storePrefix(Assignment))
      const blind = (store: Store, host: Host): Store => ({
        ...store,
        get: (key) => store.get(key, isDocument(key) ? yesterday() : undefined),
        list: (range) =>
          store.list(isDocument(range.prefix) ? { ...range, revision: range.revision ?? yesterday() } : range),
        watch: (prefix, ...rest) =>
          delayWatches(store, host, () => (isDocument(prefix) ? MINUTE : 5_000)).watch(prefix, ...rest),
        commit: async (write) => {
          if (!isDocument(write.key)) return store.commit(write)
          const now = await store.get(write.key)
          return store.commit({ ...write, expect: now?.modRevision ?? 0 })
        },
      })
      const note = () => revisions.push({ atMs: world.clock.monotonicMs(), revision: fleet.hubStore.revision() })
      note()
      fleet.startSecondHub(blind)
      for (const version of ['5.0', '6.0', '7.0']) {
        await release(world, fleet, version)
        for (let second = 0; second < 120; second++) {
          await world.run(1_000)
          note()
        }
      }
    },
  }
}

function countsItsOwnSilence(): PlantedBug {
  let clock: StormRun['world']['clock'] | undefined
  let lastMs = 0
  let deafSeconds = 0
  const deaf = tellsOf(({ up, seen }) => {
    if (!clock) return { up, seen }
    const gap = Math.floor((clock.monotonicMs() - lastMs) / 1000)
    lastMs = clock.monotonicMs()
    if (gap > 30) deafSeconds = gap
    return { up: 1_000_000, seen: agesOf(seen, (_, seconds) => seconds + deafSeconds) }
  })
  return {
    fault: 'pauses',
    name: 'a gateway that takes its own standing still for the silence of others',
    breaks: 'I-15: store-\\d is offline after',
    plantedBugs: { hubStoreOf: deaf },
    strikes: async ({ world, fleet }) => {
      clock = world.clock
      lastMs = clock.monotonicMs()
      await world.run(MINUTE)
      fleet.hub.pause()
      await world.run(4 * MINUTE)
      fleet.hub.resume()
      await world.run(MINUTE)
    },
  }
}

const isOf = (kind: Kind, key: string) => key.startsWith(storePrefix(kind))

/** A store that changes what is written of a kind. */
function changing(kind: Kind, change: (object: UnknownObject) => UnknownObject): (store: Store) => Store {
  return (store) => ({
    ...store,
    commit: (write: StoreWrite) => {
      const { value } = write
      if (!value || !isOf(kind, write.key)) return store.commit(write)
      const changed = (revision: number) => JSON.stringify(change(JSON.parse(value(revision)) as UnknownObject))
      return store.commit({ ...write, value: changed })
    },
  })
}

async function put(store: Store, key: string, expect: number, text: string): Promise<void> {
  await store.commit({ key, expect, value: serializeObject(JSON.parse(text) as UnknownObject) })
}
