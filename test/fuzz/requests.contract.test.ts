/** Fuzzing behind ports: the four patch types of the API, and answers of Helm repositories and OCI registries. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createApiServer } from '../../src/apiserver/server/api-server.ts'
import { readBody } from '../../src/core/http.ts'
import { silentLogger } from '../../src/core/log.ts'
import { systemIds } from '../../src/core/system-ids.ts'
import { systemClock } from '../../src/core/time/system-clock.ts'
import { BUILTIN_KINDS } from '../../src/kinds/builtin/builtin-kinds.ts'
import { NATIVE_KINDS } from '../../src/kinds/native/native-kinds.ts'
import type { Source } from '../../src/kinds/native/source.ts'
import { createAnswerCache } from '../../src/source/answer-cache.ts'
import type { FetchContext } from '../../src/source/fetch-request.ts'
import { fetchHelmChart } from '../../src/source/helm/helm-repository.ts'
import { INDEX_CACHE } from '../../src/source/helm/helm-index.ts'
import { fetchOci } from '../../src/source/oci-registry.ts'
import { SourceError } from '../../src/source/source-error.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import { createTestFetcher } from '../../src/testing/fixtures/source-fetcher.ts'
import { fuzz } from './fuzz.ts'
import { mutated } from './mutations.ts'

const TIME = { ms: 6_000, runs: 500 }
const NEVER = new AbortController().signal

const PATCHES: Readonly<Record<string, readonly string[]>> = {
  'application/json-patch+json': [
    '[{"op":"add","path":"/data/x","value":"y"},{"op":"copy","from":"/data","path":"/metadata/labels"},{"op":"test","path":"/data/a","value":"b"}]',
    '[{"op":"move","from":"/spec/ports/0","path":"/spec/ports/-"},{"op":"remove","path":"/metadata/finalizers/0"}]',
  ],
  'application/merge-patch+json': ['{"data":{"a":null,"b":"c"},"metadata":{"labels":{"x":"y"}}}'],
  'application/strategic-merge-patch+json': [
    '{"spec":{"ports":[{"port":80,"$patch":"delete"},{"port":81,"name":"b"}],"$setElementOrder/ports":[{"port":81}]}}',
    '{"metadata":{"finalizers":["a/b"],"$deleteFromPrimitiveList/finalizers":["c/d"]},"$retainKeys":["spec"]}',
  ],
  'application/apply-patch+yaml': [
    'apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80, protocol: TCP}], selector: {a: b}}\n',
  ],
}

test('fuzz: the four patch types are applied or refused, and never an internal error', async (t) => {
  const store = createMemoryStore()
  const kinds = [...BUILTIN_KINDS, ...NATIVE_KINDS]
  const api = createApiServer({ store, clock: systemClock, ids: systemIds, kinds, log: silentLogger })
  t.after(async () => {
    await api.close()
    await store.close()
  })
  const admin = { user: 'admin', groups: ['system:masters', 'system:authenticated'] }
  const send = async (method: string, path: string, type: string, body: Uint8Array) => {
    const answer = await api.handle({ method, path, headers: { 'content-type': type }, body }, admin, NEVER)
    return { status: answer.status, text: Buffer.from(await readBody(answer.body, 10_000_000)).toString() }
  }
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a', finalizers: ['a/b', 'c/d'] },
    spec: { ports: [{ port: 80 }, { port: 81, name: 'b' }].map((port, n) => ({ name: `p${n}`, ...port })) },
  }
  const path = '/api/v1/namespaces/default/services'
  const made = await send('POST', path, 'application/json', Buffer.from(JSON.stringify(service)))
  assert.equal(made.status, 201, made.text)
  for (const [type, corpus] of Object.entries(PATCHES)) {
    await fc.assert(
      fc.asyncProperty(mutated(corpus), async (body) => {
        // A dry run, so that each patch meets the same object.
        const { status, text } = await send('PATCH', `${path}/a?dryRun=All&fieldManager=fuzz`, type, body)
        // Kubernetes itself answers an unknown field of an applied object with 500.
        const isKnown = text.includes('failed to create typed patch object')
        assert.ok(status < 500 || isKnown, `${type}: ${text}`)
      }),
      { numRuns: TIME.runs, interruptAfterTimeLimit: TIME.ms, markInterruptAsFailure: false },
    )
  }
})

const DIGEST = `sha256:${'a'.repeat(64)}`

test('fuzz: answers of Helm repositories and OCI registries become artifacts or refusals', async (t) => {
  const fetcher = await createTestFetcher()
  t.after(() => fetcher.close())
  const context = (spec: Source['spec'], body: Uint8Array, headers = {}): FetchContext => ({
    ...fetcher.parts,
    indexes: createAnswerCache(systemClock, INDEX_CACHE),
    spec,
    mirrors: [],
    isHinted: true,
    signal: NEVER,
    http: async ({ url }) => ({ status: 200, headers, body, url }),
  })
  const helm = { url: 'https://charts.example', chart: 'web' }
  const index =
    'apiVersion: v1\nentries:\n  web:\n  - {version: 1.0.0, urls: [web-1.0.0.tgz], digest: abc}\n  - version: 2.0.0\n    urls: ["https://x/y.tgz"]\n'
  await fuzz(
    { corpus: [index], read: (bytes) => fetchHelmChart(helm, context({ helm }, bytes)), refusals: [SourceError] },
    TIME,
  )
  const oci = { url: 'oci://registry.example/a/b', semver: '1.x' }
  const manifest = JSON.stringify({
    schemaVersion: 2,
    tags: ['1.0.0', '1.1.0'],
    layers: [{ mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip', digest: DIGEST, size: 3 }],
  })
  await fuzz(
    { corpus: [manifest], read: (bytes) => fetchOci(oci, context({ oci }, bytes)), refusals: [SourceError] },
    TIME,
  )
})
