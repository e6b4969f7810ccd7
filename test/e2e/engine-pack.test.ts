/** The pack with an engine: the hub takes it as it is, and each Bundle waits for the one that it needs. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import type { KubeObject, ResourceType } from '../../src/kinds/meta.ts'
import { Bundle } from '../../src/kinds/native/bundle.ts'
import { Placement } from '../../src/kinds/native/placement.ts'
import { Source } from '../../src/kinds/native/source.ts'
import { createCliHub } from '../../src/testing/hub/cli-hub.ts'
import { readYaml } from '../../src/yaml/read/read-yaml.ts'

const PACK = resolve(import.meta.dirname, '../../packs/kyverno')
const KINDS: readonly ResourceType<KubeObject>[] = [Source, Bundle, Placement]

test('engine, policies and workloads are Bundles that wait for each other, with nothing that the API drops', async (t) => {
  const { client } = createCliHub(t)
  const files = readdirSync(PACK).filter((name) => name.endsWith('.yaml'))
  const objects = files
    .toSorted()
    .flatMap((name) => readYaml(readFileSync(join(PACK, name))).map(({ value }) => value as KubeObject))
  const waits: string[] = []
  for (const object of objects) {
    const type = KINDS.find(({ kind }) => kind === object.kind)
    assert.ok(type, object.kind)
    const stored = await client.create(type, object)
    const given = (object as unknown as { spec: object }).spec
    assert.partialDeepStrictEqual((stored as unknown as { spec: object }).spec, given)
    if (object.kind !== 'Bundle') continue
    const { dependsOn = [], placement } = (object as Bundle).spec
    assert.equal(placement, 'workloads')
    waits.push(`${object.metadata.name}: ${dependsOn.map(({ bundle }) => bundle).join()}`)
  }
  assert.deepEqual(waits, ['kyverno: ', 'kyverno-policies: kyverno', 'shop: kyverno-policies'])
  for (const bundle of objects.filter(({ kind }) => kind === 'Bundle') as Bundle[]) {
    for (const { value } of readYaml(bundle.spec.manifests ?? '')) assert.ok((value as KubeObject).metadata.name)
  }
})
