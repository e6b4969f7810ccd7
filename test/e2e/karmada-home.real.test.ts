/** Hub templates on a real kube-apiserver without controllers: kinds, rights, binding, status and deletion. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { eventually, FREE, lastFirst, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const execute = promisify(execFile)

test('a kube-apiserver without controllers serves templates, and one that may have them does not', async (context) => {
  const t = lastFirst(context)
  const plane = await startControlPlane()
  t.after(() => plane.stop())
  const home = ['--kubeconfig', plane.kubeconfigPath]
  const run = ['hub', 'run', '--data', join(temporaryFolder(t), 'hub'), ...FREE, ...home]
  const refused = await runFlotilla(t, [...run, '--hub-templates'])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /controllers of a kube-apiserver run the workloads.*\n.*--hub-templates NoControllers/)

  const hub = startFlotilla(t, [...run, '--hub-templates', 'NoControllers'])
  await hub.says(/^flotilla hub ready/)
  const kubectl = async (...args: string[]): Promise<string> =>
    (await execute(needBinary('kubectl'), [...home, ...args], { timeout: 60_000 })).stdout
  await kubectl('create', 'namespace', 'shop')
  const project = await runFlotilla(t, ['project', 'add', 'shop', '--namespace', 'shop', ...home])
  assert.equal(project.code, 0, project.stderr)
  const page = readFileSync(join(import.meta.dirname, '../../docs/dialects/karmada.md'), 'utf8')
  const file = join(temporaryFolder(t), 'web.yaml')
  writeFileSync(file, page.slice(page.indexOf('<!-- karmada-tutorial -->')).split('```')[1]!.replace('yaml', ''))
  await kubectl('apply', '-f', file)
  await kubectl('wait', '-n', 'shop', 'pp/web', '--for=condition=Accepted', '--timeout=60s')
  const binding = async () => await kubectl('get', 'rb', '-n', 'shop', '-o', 'yaml')
  await eventually('the decision', async () => (/reason: NoClusterFit/.test(await binding()) ? true : undefined))

  await kubectl('delete', 'deployment', 'web', '-n', 'shop', '--timeout=60s')
  assert.doesNotMatch(await binding(), /web-deployment/)
})
