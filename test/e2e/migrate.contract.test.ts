import { test } from 'node:test'
import { lastFirst } from './flotilla-process.ts'
import { migrateFlow } from './migrate-flow.ts'

test('an upgrade of an embedded hub gives each namespace in use a Project, and check names them', async (t) => {
  await migrateFlow(lastFirst(t), [])
})
