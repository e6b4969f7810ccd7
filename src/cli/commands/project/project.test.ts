/** project add, list, show and check, against the real API server in memory. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Project } from '../../../kinds/native/project.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { EXIT } from '../../errors/cli-error.ts'
import { projectCheck } from './check-project.ts'
import { projectAdd, projectList, projectShow } from './project.ts'
import type { ProjectFlags } from './project.ts'

function scene(t: TestContext) {
  const hub = createCliHub(t)
  const input = (flags: ProjectFlags = {}, user?: string) => ({
    connection: user === undefined ? hub.connection : hub.connectionOf(user),
    terminal: hub.terminal,
    flags,
  })
  const projectNamed = async (name: string) => (await hub.client.get(Project, { name })).spec
  return { ...hub, input, projectNamed }
}

test('add creates a Project that allows everything, and says so', async (t) => {
  const { input, projectNamed, taken } = scene(t)
  await projectAdd('team-a', input({ namespace: ['team-a'] }))
  const { namespaces, kinds, executors } = await projectNamed('team-a')
  assert.deepEqual([namespaces, kinds, executors?.ownRights], [['team-a'], ['*'], true])
  const { err } = taken()
  assert.match(err, /project "team-a" has team-a/)
  assert.match(err, /it allows all sources, all kinds, all target namespaces, all clusters, the agents' own rights/)
})

test('add with limits leaves the rest open; again, it adds namespaces and nothing else', async (t) => {
  const { input, projectNamed, taken } = scene(t)
  const limits = { kind: ['ConfigMap'], targetNamespace: ['team-a-*'], executor: 'team-a-system/deployer' }
  await projectAdd('team-a', input({ namespace: ['team-a'], ...limits }))
  const { kinds, targetNamespaces, executors, sources } = await projectNamed('team-a')
  assert.deepEqual([kinds, targetNamespaces, sources], [['ConfigMap'], ['team-a-*'], ['*']])
  assert.deepEqual(executors, { default: 'team-a-system/deployer' })
  assert.match(taken().err, /it allows all sources, all clusters;/)
  await projectAdd('team-a', input({ namespace: ['team-a-dev'] }))
  assert.deepEqual((await projectNamed('team-a')).namespaces, ['team-a', 'team-a-dev'])
  assert.match(
    await expectErrorText(projectAdd('team-a', input({ namespace: ['x'], kind: ['Pod'] }))),
    /only adds namespaces/,
  )
  assert.match(
    await expectErrorText(projectAdd('team-b', input({ namespace: ['team-a'] }))),
    /belongs to project "team-a"/,
  )
  assert.match(await expectErrorText(projectAdd('team-b', input())), /missing --namespace/)
})

test('a user without rights on Projects is refused, and nothing is created', async (t) => {
  const { client, input } = scene(t)
  await assert.rejects(projectAdd('team-a', input({ namespace: ['team-a'] }, 'eve')), /forbidden/)
  assert.deepEqual((await client.list(Project)).items, [])
})

test('list and show name what is open, and unknown usage is said as unknown', async (t) => {
  const { input, taken } = scene(t)
  await projectList(input())
  assert.match(taken().err, /No Projects found/)
  await projectAdd('team-a', input({ namespace: ['team-a'], kind: ['ConfigMap'] }))
  taken()
  await projectList(input())
  assert.match(taken().out, /team-a +team-a +unknown +0 +all sources, all target namespaces/)
  await projectShow('team-a', input())
  const { out } = taken()
  assert.match(out, /Kinds: +ConfigMap\n/)
  assert.match(out, /Bundles: +unknown of unlimited\n/)
  assert.match(await expectErrorText(projectShow('team-b', input())), /project "team-b" not found/)
})

test('check says of each object whether it is allowed, as whom, and which line refuses', async (t) => {
  const { input, taken, connection, terminal } = scene(t)
  const folder = mkdtempSync(join(tmpdir(), 'project-check-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'team.yaml')
  const head = 'apiVersion: flotilla.dev/v1alpha1'
  writeFileSync(
    file,
    `${head}
kind: Source
metadata: {name: apps, namespace: team-a}
spec: {git: {url: 'https://git.example.com/team-b/apps.git'}}
---
${head}
kind: Bundle
metadata: {name: shop, namespace: team-a}
spec: {source: {name: apps}, placement: stores}
---
${head}
kind: Placement
metadata: {name: stores, namespace: team-c}
spec: {}
`,
  )
  const limits = { source: ['https://git.example.com/team-a/*'], executor: 'team-a-system/deployer' }
  await projectAdd('team-a', input({ namespace: ['team-a'], ...limits }))
  taken()
  assert.equal(await projectCheck({ connection, terminal, flags: { filename: [file] } }), EXIT.failed)
  const { out } = taken()
  assert.match(out, /refused +Source team-a\/apps: Project team-a: spec\.sources does not list https:\/\/git\.example/)
  assert.match(out, /allowed +Bundle team-a\/shop: Project team-a, applied as team-a-system\/deployer/)
  assert.match(out, /refused +Placement team-c\/stores: Namespace team-c has no Project.*flotilla project add NAME/)
})
