/**
 * Renders recipes in the cluster: reads what the recipe names and what charts look up, as the bundle's executor,
 * renders in a thread of its own, and makes a plan of the objects. Random values are stored before an object uses them;
 * values that were read stay in memory.
 */
import type { Discovery } from '../../client/discovery.ts'
import { compact } from '../../core/compact.ts'
import { base64, fromBase64, fromUtf8, hex, hmacSha256, utf8 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Ids } from '../../core/ids.ts'
import { canonicalJson, isObject, jsonEqual } from '../../core/json.ts'
import { Secret } from '../../core/secret.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { redactTexts, isSecret } from '../../kinds/redact-secret.ts'
import { sortHooks } from '../../plan/apply/hooks.ts'
import { objectKey } from '../../plan/objects/object-id.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import { clusterKeys, describeKey } from '../../render/bundle/chart/cluster-keys.ts'
import type { ClusterKey } from '../../render/bundle/chart/cluster-keys.ts'
import type { BundleRecipe, ClusterDecryption } from '../../render/bundle/recipe.ts'
import type {
  ClusterRenderAnswer,
  ClusterRenderRequest,
  LookupAnswer,
  LookupQuery,
} from '../../render/bundle/render-in-cluster.ts'
import { describeProblems } from '../../render/render-result.ts'
import type { ObjectSet } from '../../wire/document/cluster-document.ts'
import { objectIdOf } from '../cluster/object-address.ts'
import { ObjectFailure } from '../cluster/object-failure.ts'
import type { Appliers } from '../cluster/executor-appliers.ts'
import { OBSERVE_INTERVAL_MS } from '../timing.ts'
import type { Lookups, ReadAnswer } from '../cluster/cluster-reads.ts'
import type { Read } from '../cluster/read-watches.ts'
import type { ClusterState } from '../cluster/cluster-state.ts'
import type { FrozenState } from '../cluster/frozen-store.ts'
import type { Content } from '../documents/content.ts'
import { createPlanner, DIGEST_CHARS } from '../documents/set-plan.ts'
import type { RenderedHere, SetPlan } from '../documents/set-plan.ts'

/** Renders a request: in a thread with limits, or in place. */
export type ClusterRenderPort = (request: ClusterRenderRequest, signal: AbortSignal) => Promise<ClusterRenderAnswer>

/** Ports of rendering. */
export interface ClusterRenderPorts {
  readonly content: Content
  readonly appliers: Appliers
  readonly state: ClusterState
  readonly discovery: Discovery
  readonly render: ClusterRenderPort
  readonly clock: Clock
  readonly ids: Ids
}

/** A recipe that cannot be rendered in this cluster; the message contains no value that was read. */
export class RenderRefused extends Error {
  override readonly name = 'RenderRefused'
}

// A chart may look up an object that the result of another lookup names; each round answers the new lookups.
const MOST_ROUNDS = 16
const MOST_LOOKUPS = 200

/** Creates the renderer of recipes. */
export function createClusterRender(ports: ClusterRenderPorts) {
  const { content, appliers, state, discovery, clock, ids } = ports

  /** The plan of a recipe by the current state of the cluster; throws with the name of an object that is missing. */
  async function plan(bundle: string, set: ObjectSet, signal: AbortSignal): Promise<SetPlan> {
    const { executor } = set.options ?? {}
    const view = createClusterView(appliers.lookups(bundle, executor))
    const follow = () => appliers.follow(bundle, { executor, reads: view.reads(), signal })
    try {
      const before = await state.readFrozen(bundle, signal)
      const { objects, drawn } = await render(set, before?.drawn ?? {}, view, signal)
      const frozen = await freeze(bundle, before, drawn)
      const again = (await follow()) ? {} : { againAtMs: clock.monotonicMs() + OBSERVE_INTERVAL_MS.ready }
      return buildPlan(set, objects, { frozen, view, again })
    } catch (caught) {
      // The watches report when the missing object appears.
      await follow().catch(() => {})
      throw caught
    }
  }

  async function render(set: ObjectSet, frozen: FrozenState['drawn'], view: ClusterView, signal: AbortSignal) {
    const recipe = set.render!.recipe as unknown as BundleRecipe
    const values: (string | undefined)[] = []
    for (const key of clusterKeys(recipe)) values.push(await view.value(key, signal))
    const request = {
      recipe,
      files: await content.files(set, signal),
      frozen,
      values,
      kubeVersion: await discovery.version(signal),
      apiVersions: await discovery.apiVersions(signal),
      ...compact({ keys: recipe.decryptInCluster && (await view.keys(recipe.decryptInCluster, signal)) }),
    }
    const lookups: LookupAnswer[] = []
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const answer = await ports.render({ ...request, lookups }, signal)
      if (answer.kind === 'Rendered') {
        const { result } = answer
        if (!result.ok)
          throw new RenderRefused(
            view.redact(`cannot be rendered in the cluster: ${describeProblems(result.problems)}`),
          )
        return { objects: result.objects, drawn: answer.frozen }
      }
      for (const query of answer.queries) lookups.push({ query, found: await view.lookUp(query, signal) })
      if (lookups.length > MOST_LOOKUPS) break
    }
    throw new RenderRefused(
      `cannot be rendered in the cluster: the charts need more than ${MOST_LOOKUPS} lookups or more than ${MOST_ROUNDS} rounds of lookups`,
    )
  }

  /** Stores the random values before an object uses them. */
  async function freeze(
    bundle: string,
    before: FrozenState | undefined,
    drawn: FrozenState['drawn'],
  ): Promise<FrozenState> {
    if (before && jsonEqual(before.drawn, drawn)) return before
    const next = { key: before?.key ?? base64(ids.bytes(32)), drawn: { ...drawn } }
    await state.writeFrozen(bundle, next)
    return next
  }

  return { plan }
}

/** The renderer of recipes. */
export type ClusterRender = ReturnType<typeof createClusterRender>

interface Rendering {
  readonly frozen: FrozenState
  readonly view: ClusterView
  readonly again: Pick<RenderedHere, 'againAtMs'>
}

function buildPlan(set: ObjectSet, objects: readonly UnknownObject[], { frozen, view, again }: Rendering): SetPlan {
  const options = set.options ?? {}
  const sorted = sortHooks(options, objects)
  if (!sorted.ok) throw new RenderRefused(view.redact(sorted.problem))
  if (sorted.objects.length === 0) throw new RenderRefused('the chart renders no objects in this cluster')
  const key = new Secret(fromBase64(frozen.key))
  const planner = createPlanner(options)
  const marks: string[] = []
  for (const object of sorted.objects) {
    const digest = hex(hmacSha256(key.reveal(), canonicalJson(object))).slice(0, DIGEST_CHARS)
    marks.push(digest)
    planner.add({ object, from: { rendered: object }, digest, hook: sorted.hooks.get(objectKey(objectIdOf(object))) })
  }
  const mark = hex(hmacSha256(key.reveal(), marks.sort().join(' '))).slice(0, DIGEST_CHARS)
  return { ...planner.plan(), rendered: { mark, redact: view.redact, ...again } }
}

/** The cluster as a rendering sees it: every object is read once, and remembered for watches and for redaction. */
function createClusterView(reads: Lookups) {
  const seen = new Map<string, Promise<ReadAnswer<unknown>>>()
  const done: Read[] = []
  const secrets: string[] = []

  function once<T>(query: ObjectId, ask: () => Promise<ReadAnswer<T>>): Promise<ReadAnswer<T>> {
    const key = `${query.apiVersion} ${query.namespace ?? ''} ${objectKey(query)}`
    const known = seen.get(key) as Promise<ReadAnswer<T>> | undefined
    if (known) return known
    const asked = ask().then(
      (answer) => {
        done.push({ query, version: answer.version })
        return answer
      },
      (caught: unknown) => {
        if (caught instanceof ObjectFailure) done.push({ query, version: '' })
        throw caught
      },
    )
    seen.set(key, asked)
    return asked
  }

  function remember(object: UnknownObject): void {
    if (!isSecret(object) || !isObject(object['data'])) return
    for (const value of Object.values(object['data'])) {
      if (typeof value !== 'string') continue
      const text = new TextDecoder().decode(fromBase64(value))
      // A value may be part of YAML, and a message may repeat any of its lines.
      secrets.push(
        value,
        text,
        ...text.split('\n').flatMap((line) => [line.trim(), line.slice(line.indexOf(':') + 1).trim()]),
      )
    }
  }

  return {
    reads: (): readonly Read[] => done,
    redact: (sentence: string): string => redactTexts(sentence, secrets.flatMap(quotedForms)),
    /** The text of a key of a ConfigMap or Secret; throws with its name when a required key is missing. */
    async value(key: ClusterKey, signal: AbortSignal): Promise<string | undefined> {
      const { kind, namespace, name } = key
      const query: ObjectId = { apiVersion: 'v1', kind, namespace, name }
      const { found } = await once(query, () => reads.find(query, signal))
      if (found) remember(found)
      const data = isObject(found?.['data']) ? found['data'] : {}
      const value = Object.hasOwn(data, key.key) ? data[key.key] : undefined
      if (typeof value === 'string') return kind === 'Secret' ? decodeText(value, query, key) : value
      if (key.isOptional) return undefined
      const missing = found ? `key ${key.key} not found` : 'not found in the cluster'
      throw new ObjectFailure(query, `helm.valuesFrom names ${describeKey(key)}: ${missing}`)
    },
    /** The keys `*.agekey` of the Secret of a decryption; throws with its name when the Secret is missing. */
    async keys({ namespace, secret }: ClusterDecryption, signal: AbortSignal): Promise<Record<string, string>> {
      if (secret === undefined) return {}
      const query: ObjectId = { apiVersion: 'v1', kind: 'Secret', namespace, name: secret }
      const { found } = await once(query, () => reads.find(query, signal))
      if (!found) {
        throw new ObjectFailure(query, `decryption names Secret ${namespace}/${secret}: not found in the cluster`)
      }
      remember(found)
      const files = Object.entries(isObject(found['data']) ? found['data'] : {}).filter(([key]) =>
        key.endsWith('.agekey'),
      )
      return Object.fromEntries(files.map(([key, value]) => [key, new TextDecoder().decode(fromBase64(String(value)))]))
    },
    /** The result of a chart's lookup; without a name, a list. */
    async lookUp({ apiVersion, kind, namespace, name }: LookupQuery, signal: AbortSignal): Promise<unknown> {
      const query: ObjectId = { apiVersion, kind, name, ...(namespace !== '' && { namespace }) }
      if (name !== '') {
        const { found } = await once(query, () => reads.find(query, signal))
        if (found) remember(found)
        return found
      }
      const { found } = await once(query, () => reads.list(query, signal))
      found.forEach(remember)
      return { apiVersion, kind: `${kind}List`, metadata: {}, items: found }
    },
  }
}

type ClusterView = ReturnType<typeof createClusterView>

function decodeText(value: string, query: ObjectId, key: ClusterKey): string {
  try {
    return fromUtf8(fromBase64(value))
  } catch {
    throw new ObjectFailure(query, `helm.valuesFrom names ${describeKey(key)}: the value is not UTF-8 text`)
  }
}

function quotedForms(text: string): string[] {
  const bare = text.replace(/^(["'])(.*)\1$/s, '$2')
  return [text, bare, JSON.stringify(bare).slice(1, -1), base64(utf8(bare))]
}
