/** The situations an edge team rehearses, played in a running demo. */
import type { Client } from '../../client/client.ts'
import type { Clock } from '../../core/time/clock.ts'
import { isApiError } from '../../core/errors.ts'
import { formatTime } from '../../core/time/time.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { Release } from '../../kinds/native/release.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { Source } from '../../kinds/native/source.ts'
import { DEMO_BUNDLE, DEMO_OBJECTS, DEMO_SOURCE, overlayFiles, releaseFiles } from './content.ts'
import type { Repository } from './repository.ts'
import type { Site } from './site.ts'
import { REGIONS } from './stores.ts'

/** What can be played. */
export const SITUATIONS = ['release', 'break', 'offline', 'drift', 'bad-overlay', 'slow-pull', 'page'] as const
export type Situation = (typeof SITUATIONS)[number]

/** A request to play a situation. */
export interface SituationRequest {
  readonly situation: Situation
  /** A store, or for bad-overlay and slow-pull a region; one is chosen when absent. */
  readonly target?: string
  /** Ends the situation. */
  readonly undo: boolean
}

/** What was done, and how to look at it: the words after `flotilla`. */
export interface SituationResult {
  readonly done: string
  readonly next: readonly string[]
  /** The result for stdout, if the situation has one. */
  readonly data?: string
}

/** A request that cannot be played, with a message for the user. */
export class SituationRefused extends Error {
  override readonly name = 'PlayRefused'
}

/** Plays situations in order. */
export type RunSituation = (play: SituationRequest) => Promise<SituationResult>

/** The version of the app in the first commit. */
export const FIRST_VERSION = '1.0'

const SLOW_PULL_MS = 45_000
const USUAL_PULL_MS = 400
const POLL_MS = 250
const NAMED_WITHIN_MS = 30_000

interface PlaysOptions {
  readonly client: Client
  readonly sites: readonly Site[]
  readonly repository: Repository
  readonly clock: Clock
  /** A fresh address of the console that signs one browser in. */
  readonly signInUrl: () => string
  /** The plan of every release but the first: one of its rings asks for an approval. */
  readonly plan: RolloutPlan
}

/** Makes the situations of a demo. */
export function createSituationRunner({
  client,
  sites,
  repository,
  clock,
  signInUrl,
  plan,
}: PlaysOptions): RunSituation {
  // A kept demo has more commits than versions; that only skips some numbers.
  let minor = Math.max(0, repository.commits - 1)
  let last: Promise<unknown> = Promise.resolve()

  const siteNamed = (name: string | undefined): Site => {
    // The first store of the third ring: far enough back to see rings before it, and steady.
    const usual = sites.find(({ store }) => store.ring === 'early' && !store.fault) ?? sites[0]
    const found = name === undefined ? usual : sites.find(({ store }) => store.name === name)
    if (found) return found
    const names = sites.map(({ store }) => store.name)
    throw new SituationRefused(`store "${name}" not found; the demo has ${names[0]} to ${names.at(-1)}`)
  }
  const regionNamed = (name = 'south'): (typeof REGIONS)[number] => {
    const found = REGIONS.find((region) => region === name)
    if (found) return found
    throw new SituationRefused(`region "${name}" not found; the demo has ${REGIONS.join(', ')}`)
  }
  /** Commits and asks the hub to look, as a webhook would. */
  const push = async (message: string, files: Readonly<Record<string, string>>): Promise<string> => {
    const commit = await repository.commit(message, files)
    const annotations = { 'flotilla.dev/poll': `demo ${formatTime(clock.now())} ${commit.slice(0, 12)}` }
    const key = { name: DEMO_SOURCE, namespace: DEMO_BUNDLE.metadata.namespace ?? '' }
    await client.patch(Source, key, { type: 'merge', body: { metadata: { annotations } } })
    return commit
  }
  /** The Release of a commit, once it is the app's newest; what was committed before may still be on its way. */
  const releaseOf = async (commit: string): Promise<string | undefined> => {
    const name = (await client.get(Bundle, DEMO_BUNDLE.metadata)).status?.release
    if (name === undefined) return undefined
    const { spec } = await client.get(Release, { ...DEMO_BUNDLE.metadata, name })
    return spec.bundles.some(({ revision }) => revision?.includes(commit)) ? name : undefined
  }
  /** Commits a version whose rollout asks for an approval, and waits until the rollout has a name. */
  const release = async (): Promise<SituationResult & { readonly approve: readonly string[] }> => {
    await client.apply(RolloutPlan, plan, { fieldManager: 'flotilla-demo', force: true })
    const version = `1.${++minor}`
    const commit = await push(`shop ${version}`, releaseFiles(version))
    let rollout = await releaseOf(commit)
    for (let waited = 0; rollout === undefined && waited < NAMED_WITHIN_MS; waited += POLL_MS) {
      await clock.sleep(POLL_MS, new AbortController().signal)
      rollout = await releaseOf(commit)
    }
    const ring = plan.spec.rings.find(({ approvals }) => approvals)?.name
    const done = `committed shop ${version} (${shortOf(commit)}); the hub renders it and rolls it out`
    if (rollout === undefined) return { done, next: ['get rollouts -o wide'], approve: [] }
    const approve = [`rollout approve ${rollout} --ring ${ring} --reason demo`]
    return {
      done: `${done} as ${rollout}; ring ${ring} waits for your approval`,
      next: [`rollout watch ${rollout}`, ...approve],
      approve,
    }
  }

  const played: Readonly<Record<Situation, (play: SituationRequest) => Promise<SituationResult>>> = {
    release: async () => {
      const { done, next } = await release()
      return { done, next }
    },
    break: async ({ target, undo }) => {
      const { store, setBroken } = siteNamed(target)
      await setBroken(!undo)
      return {
        done: undo ? `${store.name} can pull images again` : `${store.name} can no longer pull images`,
        next: [`get clusters ${store.name} -o wide`, ...(undo ? [] : [`demo break ${store.name} --undo`])],
      }
    },
    offline: async ({ target, undo }) => {
      const { store, line } = siteNamed(target)
      if (undo) line.mend()
      else line.cut()
      return {
        done: undo
          ? `restored the connection of ${store.name}; the store moves to the newest release in one step`
          : `cut the connection of ${store.name}; the cluster is shown as Offline within 40 s and keeps its workloads`,
        next: [`get clusters ${store.name} -o wide`, ...(undo ? [] : [`demo offline ${store.name} --undo`])],
      }
    },
    drift: async ({ target, undo }) => {
      const { store, cluster } = siteNamed(target)
      const key = { name: DEMO_OBJECTS.configMap, namespace: DEMO_OBJECTS.namespace }
      const text = undo ? 'good morning' : 'buy two, pay one'
      const body = { type: 'merge', body: { data: { text } } } as const
      await cluster.client.patch(ConfigMap, key, body, { fieldManager: 'store-admin' }).catch((caught: unknown) => {
        if (!isApiError(caught, 'NotFound')) throw caught
        throw new SituationRefused(
          `bundle shop is not on ${store.name} yet; wait until the first rollout has reached the store`,
        )
      })
      return {
        done: undo
          ? `restored ConfigMap ${key.namespace}/${key.name} in ${store.name}, as field manager "store-admin"`
          : `edited ConfigMap ${key.namespace}/${key.name} in ${store.name}, as field manager "store-admin"`,
        next: ['drift list', `drift show ${store.name}`],
      }
    },
    'bad-overlay': async ({ target, undo }) => {
      const region = regionNamed(target)
      const commit = await push(
        undo ? `mend the overlay of ${region}` : `change the overlay of ${region}`,
        overlayFiles(region, undo),
      )
      return {
        done: undo
          ? `committed a good overlay for ${region} (${shortOf(commit)})`
          : `committed an overlay for ${region} that cannot be built (${shortOf(commit)}); its stores keep their workloads, the other regions continue`,
        next: ['get bundle shop -o yaml', ...(undo ? [] : [`demo bad-overlay ${region} --undo`])],
      }
    },
    page: async () => ({ done: 'the address signs in one browser, once', next: [], data: signInUrl() }),
    'slow-pull': async ({ target, undo }) => {
      const region = regionNamed(target)
      for (const { store, setPull } of sites) {
        if (store.region === region) setPull(undo ? USUAL_PULL_MS : SLOW_PULL_MS)
      }
      if (undo) return { done: `image pulls in ${region} have their usual speed again`, next: ['get rollouts -o wide'] }
      const { done, approve } = await release()
      const next = ['get rollouts -o wide', ...approve]
      return { done: `image pulls in ${region} take ${SLOW_PULL_MS / 1000} s; ${done}`, next }
    },
  }
  return (play) => {
    const turn = last.then(() => played[play.situation](play))
    last = turn.catch(() => {}) // the caller gets the error
    return turn
  }
}

function shortOf(commit: string): string {
  return commit.slice(0, 7)
}
