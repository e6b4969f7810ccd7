/** The tutorial about a rule, followed word by word with a real control plane. */
import assert from 'node:assert/strict'
import { copyFileSync, cpSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { needBinary } from '../../src/testing/testenv.ts'
import { lastFirst, temporaryFolder } from './flotilla-process.ts'
import { readerOf } from './tutorial-reader.ts'
import { followTutorial } from './tutorial.ts'

const ROOT = resolve(import.meta.dirname, '../..')

test('from a new rule to the report of an auditor', async (context) => {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  const plane = await startControlPlane()
  t.after(() => plane.stop())
  copyFileSync(plane.kubeconfigPath, join(folder, 'store-1.kubeconfig'))
  cpSync(join(ROOT, 'packs'), join(folder, 'packs'), { recursive: true })
  const reader = readerOf(t, folder, [dirname(needBinary('kubectl'))])
  assert.ok((await followTutorial(join(ROOT, 'docs/tutorials/rule-to-report.md'), reader)) > 25)
})
