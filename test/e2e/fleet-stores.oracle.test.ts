/** The tutorial of stores with Rancher Fleet's kinds, followed word by word with embedded API servers as clusters. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { needBinary } from '../../src/testing/testenv.ts'
import { lastFirst, temporaryFolder } from './flotilla-process.ts'
import { startPushedSite } from './pushed-sites.ts'
import { readerOf } from './tutorial-reader.ts'
import { followTutorial } from './tutorial.ts'

const PAGE = resolve(import.meta.dirname, '../../docs/tutorials/fleet-stores.md')

test('two stores are registered by kubeconfig, follow a repository of Fleet, and one is frozen and released', async (context) => {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  for (const store of ['budapest', 'prague']) {
    const { kubeconfig } = await startPushedSite(t)
    writeFileSync(join(folder, `${store}.kubeconfig`), kubeconfig, { mode: 0o600 })
  }
  const reader = readerOf(t, folder, [dirname(needBinary('kubectl'))])
  assert.ok((await followTutorial(PAGE, reader)) > 25)
})
