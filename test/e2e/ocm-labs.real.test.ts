/** The labs of Open Cluster Management as a tutorial, followed word by word with two real control planes. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { lastFirst, temporaryFolder } from './flotilla-process.ts'
import { readerOf } from './tutorial-reader.ts'
import { followTutorial } from './tutorial.ts'

const execute = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../..')

test('the labs of Open Cluster Management', async (context) => {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  for (const name of ['spoke1', 'factory']) {
    const plane = await startControlPlane()
    t.after(() => plane.stop())
    copyFileSync(plane.kubeconfigPath, join(folder, `${name}.kubeconfig`))
  }
  // The program reads from its own name that it is called as clusteradm.
  const programs = temporaryFolder(t)
  symlinkSync(join(ROOT, 'bin/flotilla'), join(programs, 'flotilla'))
  const reader = readerOf(t, folder, [dirname(needBinary('kubectl'))])
  const env = { ...reader.env, PATH: [programs, reader.env['PATH']].join(delimiter) }
  const unjoin = async (spoke: string, cluster: string): Promise<void> => {
    const own = { ...env, KUBECONFIG: join(folder, `${spoke}.kubeconfig`) }
    await execute(join(folder, 'bin/clusteradm'), ['unjoin', '--cluster-name', cluster], { env: own, timeout: 60_000 })
  }
  // Agents that were joined go on when the tutorial fails.
  t.after(() => unjoin('spoke1', 'spoke1').catch(() => {}))
  t.after(() => unjoin('factory', 'spoke-factory-07').catch(() => {}))
  assert.ok((await followTutorial(join(ROOT, 'docs/tutorials/ocm-labs.md'), { ...reader, env })) > 35)
  await assert.rejects(unjoin('spoke1', 'spoke1'), /no agent of cluster "spoke1" runs/)
})
