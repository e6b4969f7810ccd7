/** The tutorial of two clusters that follow git, followed word by word with two real control planes. */
import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { lastFirst, temporaryFolder } from './flotilla-process.ts'
import { readerOf } from './tutorial-reader.ts'
import { followTutorial } from './tutorial.ts'

const PAGE = resolve(import.meta.dirname, '../../docs/tutorials/two-clusters-from-git.md')

test('a newcomer takes two real clusters from nothing to a commit through two rings', async (context) => {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  for (const name of ['store-1', 'store-2']) {
    const plane = await startControlPlane()
    t.after(() => plane.stop())
    copyFileSync(plane.kubeconfigPath, join(folder, `${name}.kubeconfig`))
  }
  const reader = readerOf(t, folder, [dirname(needBinary('kubectl'))])
  assert.ok((await followTutorial(PAGE, reader)) > 25)
})
