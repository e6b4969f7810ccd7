/**
 * The operating half of an agent on any cluster, with documents made by hand instead of a hub. It can be killed and
 * started again.
 */
import { readFile } from 'node:fs/promises'
import { createAppliers } from '../../agent/cluster/executor-appliers.ts'
import { createClusterState } from '../../agent/cluster/cluster-state.ts'
import { createContent } from '../../agent/documents/content.ts'
import { createDeltaBases, createSealedValues } from '../../agent/documents/delta-bases.ts'
import type { ClusterRenderPort } from '../../agent/render/cluster-render.ts'
import { createPolicyLoop } from '../../agent/policies/policy-loop.ts'
import type { PolicyLoop } from '../../agent/policies/policy-loop.ts'
import { createBundleLoop } from '../../agent/bundles/bundle-loop.ts'
import { createPeerCluster } from '../../agent/bundles/handover/peer-cluster.ts'
import { renderInPlace } from '../../agent/render/render-in-place.ts'
import { createMemoryStorage } from '../../agent/storage/storage.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import { createMemoryBlobs } from '../../blobs/memory-blobs.ts'
import { clientOver } from '../../client/create-client.ts'
import { createDiscovery } from '../../client/discovery.ts'
import { readKubeconfig } from '../../client/kubeconfig.ts'
import { createRest } from '../../client/rest.ts'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { utf8 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Transport } from '../../core/http.ts'
import type { Ids } from '../../core/ids.ts'
import { canonicalJson } from '../../core/json.ts'
import { silentLogger } from '../../core/log.ts'
import type { Logger } from '../../core/log.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { LocalLimits } from '../../plan/apply/local-limits.ts'
import { sortHooks } from '../../plan/apply/hooks.ts'
import { objectKey } from '../../plan/objects/object-id.ts'
import { storeFiles } from '../../controllers/bundle-render/store-set.ts'
import type { PreparedContent } from '../../render/bundle/prepare-content.ts'
import { toBlobs } from '../../render/render-result.ts'
import type { ClusterDocument, DocumentRules, Tombstone } from '../../wire/document/cluster-document.ts'
import { objectSetBytes, setFormat } from '../../wire/document/signed-document.ts'

/** What it runs on. */
export interface OperatingAgentOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly ids: Ids
  readonly log?: Logger
  readonly ceiling?: LocalLimits
  /** Who renders what charts look at the cluster for; in place unless told. */
  readonly render?: ClusterRenderPort
  /** Where content is; memory unless told. */
  readonly blobs?: Blobs
}

/** One bundle to run. */
export interface OperatedBundle {
  readonly generation: number
  readonly objects?: readonly UnknownObject[]
  /** Instead of objects: what the agent renders. */
  readonly content?: PreparedContent
  readonly options?: BundleOptions
}

/** The rest of a document. */
export interface AssignOptions {
  readonly tombstones?: readonly Tombstone[]
  readonly epoch?: number
  readonly rules?: Partial<DocumentRules>
}

/** Makes it; nothing runs before `start`. */
export function createOperatingAgent(options: OperatingAgentOptions) {
  const { transport, clock, ids, log = silentLogger } = options
  // There is no hub to fetch from again: what was assigned stays.
  const blobs: Blobs = { ...(options.blobs ?? createMemoryBlobs()), delete: async () => {} }
  const ceiling = options.ceiling ?? {}
  let document: ClusterDocument | undefined
  let operator: ReturnType<typeof createBundleLoop> | undefined
  let evaluator: PolicyLoop | undefined
  let stopping: AbortController | undefined
  let running: Promise<unknown> | undefined
  let revision = 0

  async function assign(
    bundles: Readonly<Record<string, OperatedBundle>>,
    { tombstones = [], epoch = 1, rules = {} }: AssignOptions = {},
  ): Promise<void> {
    const entries: ClusterDocument['content']['entries'][number][] = []
    for (const [bundle, { generation, objects = [], content, options: how }] of Object.entries(bundles)) {
      if (content) {
        const { set } = await storeFiles(how, content, { putBlob: (bytes) => blobs.put(bytes) })
        entries.push({ bundle, generation, set, rollout: bundle })
        continue
      }
      const sorted = sortHooks(how ?? {}, objects)
      if (!sorted.ok) throw new Error(sorted.problem)
      const found = toBlobs(sorted.objects)
      for (const { bytes } of found) await blobs.put(bytes)
      const named = found.map(({ bytes: _bytes, ...object }) => {
        const hook = sorted.hooks.get(objectKey(object))
        return hook ? { ...object, hook } : object
      })
      const set = { format: setFormat(named), objects: named, ...(how ? { options: how } : {}) }
      entries.push({ bundle, generation, set: await blobs.put(objectSetBytes(set)), rollout: bundle })
    }
    revision += 1
    document = {
      format: 'flotilla.dev/document/v1',
      clusterId: 'c-1',
      epoch,
      revision,
      issuedAt: '2026-01-01T00:00:00Z',
      requires: [],
      rules: { trustVersion: 1, ...rules },
      content: { entries, tombstones },
    }
    operator?.wake()
  }

  function start(): void {
    const rest = createRest({ transport, clock, userAgent: 'flotilla-agent/test' })
    const client = clientOver(rest)
    const discovery = createDiscovery(rest)
    const state = createClusterState(client)
    const hubTime = { now: () => clock.now() }
    const appliers = createAppliers({
      transport,
      userAgent: 'flotilla-agent/test',
      clock,
      ids,
      log,
      discovery,
      localLimits: ceiling,
      rules: () => document?.rules,
      neighbours: { holdersOf: (key) => made.holdersOf(key) },
      onChange: (key, isNews) => made.touch(key, isNews),
      onRead: (bundle) => made.touchReads(bundle),
      onPolicyRead: (changed) => policies.touch(changed),
    })
    const made = createBundleLoop({
      documents: {
        current: () => document && { document, digest: digestOf(utf8(canonicalJson(document))) },
        held: () => undefined,
        refusal: () => undefined,
        refresh: async () => {},
      },
      content: createContent({
        blobs,
        hub: () => undefined,
        log,
        bases: createDeltaBases(createMemoryStorage()),
        sealedValues: createSealedValues(createMemoryStorage()),
        entryOf: () => undefined,
        sealing: () => undefined,
      }),
      appliers,
      state,
      removeChecks: (removed, signal) => policies.remove(removed, signal),
      discovery,
      render: options.render ?? renderInPlace({ clock, ids }),
      peers: createPeerCluster({ client, discovery, localLimits: ceiling }),
      clock,
      ids,
      log,
      maxPrune: () => ceiling.maxPrune,
      hubTime,
      onChange: () => policies.wake(),
    })
    const policies = createPolicyLoop({
      appliers,
      clock,
      ids,
      log,
      hubTime,
      state,
      ...made.checkSource,
      onChange: () => {},
    })
    operator = made
    evaluator = policies
    stopping = new AbortController()
    running = Promise.all([made.run(stopping.signal), policies.run(stopping.signal)])
  }

  return {
    assign,
    start,
    /** As a kill does: whatever is under way is left as it is. */
    async stop(): Promise<void> {
      stopping?.abort()
      await running
    },
    /** Results of the checks. */
    checks: () => evaluator?.results() ?? [],
    removals: () => operator?.removals() ?? [],
    handover: () => operator?.handover(),
    row: (bundle: string) => operator?.rows().find((row) => row.bundle === bundle),
  }
}

/** The operating half of an agent. */
export type OperatingAgent = ReturnType<typeof createOperatingAgent>

/** The API that a kubeconfig file leads to. */
export async function clusterOf(file: string): Promise<{ readonly transport: Transport; close(): Promise<void> }> {
  const text = await readFile(file, 'utf8')
  const { connection } = await readKubeconfig({ text, file, readFile: (path) => readFile(path, 'utf8') })
  return createUndiciTransport(connection)
}
