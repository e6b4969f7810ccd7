/** The newcomer's tutorial, followed word by word with the live demo. */
import assert from 'node:assert/strict'
import { dirname, resolve } from 'node:path'
import { test } from 'node:test'
import { needBinary } from '../../src/testing/testenv.ts'
import { lastFirst, temporaryFolder } from './flotilla-process.ts'
import { readerOf } from './tutorial-reader.ts'
import { followTutorial } from './tutorial.ts'

const PAGE = resolve(import.meta.dirname, '../../docs/tutorials/first-ten-minutes.md')

test('a newcomer spends ten minutes with the demo', async (context) => {
  const t = lastFirst(context)
  const reader = readerOf(t, temporaryFolder(t), [dirname(needBinary('kubectl'))])
  assert.ok((await followTutorial(PAGE, reader)) > 15)
})
