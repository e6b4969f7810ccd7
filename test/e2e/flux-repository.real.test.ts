/** The tutorial of a repository for Flux, followed word by word with a real control plane. */
import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { lastFirst, temporaryFolder } from './flotilla-process.ts'
import { readerOf } from './tutorial-reader.ts'
import { followTutorial } from './tutorial.ts'

const PAGE = resolve(import.meta.dirname, '../../docs/tutorials/flux-repository.md')

test('a repository for Flux with a directory per cluster and an encrypted Secret reaches a real cluster', async (context) => {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  const plane = await startControlPlane()
  t.after(() => plane.stop())
  copyFileSync(plane.kubeconfigPath, join(folder, 'store-1.kubeconfig'))
  const reader = readerOf(t, folder, [dirname(needBinary('kubectl'))])
  assert.ok((await followTutorial(PAGE, reader)) > 15)
})
