/** `policy template` reads objects of API servers and prints what Open Cluster Management's resolver printed. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { JsonObject } from '../../../core/json.ts'
import { readCases } from '../../../../test/recorded/recorded-case.ts'
import type { RecordedCase } from '../../../../test/recorded/recorded-case.ts'
import { isSameTemplate } from '../../../../test/recorded/ocm/policy-cases.ts'
import { memoryObjects } from '../../../render/policy-template/memory-objects.ts'
import type { MemoryKind } from '../../../render/policy-template/memory-objects.ts'
import { parseLabelQuery } from '../../../render/policy-template/label-query.ts'
import { runPolicy } from './run-policy.fixture.ts'

interface World {
  readonly resources: readonly MemoryKind[]
  readonly hub: readonly JsonObject[]
  readonly spoke: readonly JsonObject[]
}

const WORLD = JSON.parse(
  gunzipSync(
    readFileSync(new URL('../../../../test/recorded/ocm/policy-template.world.json.gz', import.meta.url)),
  ).toString(),
) as World

/** The answer of a read-only API server. */
function answer(objects: readonly JsonObject[], url: URL): JsonObject | undefined {
  const match =
    /^\/(?:api\/(?<core>[^/]+)|apis\/(?<group>[^/]+)\/(?<version>[^/]+))(?:\/namespaces\/(?<namespace>[^/]+)(?=\/[^/]))?(?:\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?)?$/.exec(
      url.pathname,
    )
  if (!match) return undefined
  const { core, group = '', version = core, namespace = '', plural, name } = match.groups!
  const kinds = WORLD.resources.filter((kind) => kind.group === group && kind.version === version)
  const apiVersion = group === '' ? version! : `${group}/${version}`
  if (plural === undefined) {
    const resources = kinds.map((kind) => ({ name: kind.plural, kind: kind.kind, namespaced: kind.namespaced }))
    return kinds.length === 0 ? undefined : { kind: 'APIResourceList', groupVersion: apiVersion, resources }
  }
  const kind = kinds.find((one) => one.plural === plural)
  if (!kind) return undefined
  const served = memoryObjects(WORLD.resources, objects)
  if (name !== undefined) return served.get({ apiVersion, kind: kind.kind, namespace, name })
  const labels = parseLabelQuery(url.searchParams.get('labelSelector') ?? '')
  const items = served.list({ apiVersion, kind: kind.kind, namespace, labels })
  return {
    kind: `${kind.kind}List`,
    apiVersion,
    metadata: {},
    items: items.map((item) => ({ ...item, apiVersion: undefined, kind: undefined })),
  }
}

async function serve(t: TestContext, objects: readonly JsonObject[]): Promise<{ server: string; reads: string[] }> {
  const reads: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://localhost')
    reads.push(url.pathname)
    const found = answer(objects, url)
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(found ?? { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close())
  return { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, reads }
}

function kubeconfig(file: string, server: string): string {
  const config = {
    clusters: [{ name: 'c', cluster: { server } }],
    contexts: [{ name: 'x', context: { cluster: 'c' } }],
    'current-context': 'x',
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

async function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'policy-template-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [spoke, hub] = [await serve(t, WORLD.spoke), await serve(t, WORLD.hub)]
  const config = kubeconfig(join(folder, 'spoke.kubeconfig'), spoke.server)
  kubeconfig(join(folder, 'hub.kubeconfig'), hub.server)
  const run = (args: readonly string[], stdin?: string) => runPolicy(args, { stdin, variables: { KUBECONFIG: config } })
  return { folder, spoke, run }
}

const FAMILIES = new Set(['both', 'cache', 'hubargs', 'local', 'lookup'])

test('recorded cases that read objects end as recorded', async (t) => {
  const { folder, run } = await setUp(t)
  const cases = readCases('ocm/policy-template.jsonl.gz').filter((one) => FAMILIES.has(one['family'] as string))
  const different: string[] = []
  for (const one of cases) {
    const { files, args, stdin } = one as unknown as {
      readonly files: Record<string, string>
      readonly args: readonly string[]
      readonly stdin?: string
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const inFolder = args.map((arg) => (/\.(yaml|kubeconfig)$/.test(arg) ? join(folder, arg) : arg))
    const ended = await run(['template', ...inFolder], stdin)
    if (!isSameTemplate(ended, one satisfies RecordedCase)) different.push(one.id)
  }
  assert.deepEqual(different, [])
  assert.ok(cases.length > 50)
})

test('a policy without reads needs no cluster', async (t) => {
  const { spoke, run } = await setUp(t)
  const ended = await run(['template', '-'], "kind: ConfigurationPolicy\nspec:\n  object-templates: [{a: '{{ 1 }}'}]\n")
  assert.deepEqual(ended, {
    exit: 0,
    stdout: 'kind: ConfigurationPolicy\nspec:\n  object-templates:\n    - a: "1"\n',
    stderr: '',
  })
  assert.deepEqual(spoke.reads, [])
})

test('wrong arguments exit with 1 and say why', async (t) => {
  const { folder, run } = await setUp(t)
  const gone = join(folder, 'gone.yaml')
  for (const [args, stderr] of [
    [['template', '--bogus'], 'Error: unknown flag: --bogus\n'],
    [['template', '--object-name'], 'Error: flag needs an argument: --object-name\n'],
    [
      ['template', gone],
      `Error: error handling YAML file input: failed to read the file "${gone}": open ${gone}: no such file or directory\n`,
    ],
    [['template'], 'Error: error handling YAML file input: failed to read from stdin: input is empty\n'],
    [
      ['template', '--hub-kubeconfig', 'x', 'y'],
      'Error: when a hub kubeconfig is provided, you must provide a managed cluster name for hub templates to resolve using the cluster-name argument\n',
    ],
  ] as const) {
    assert.deepEqual(await run(args), { exit: 1, stdout: '', stderr })
  }
})
