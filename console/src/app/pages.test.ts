import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isApiPath } from '../../../src/hub/console/api-proxy.ts'
import { PAGES } from './pages.ts'

test('no page has an address of the API: a reload would show its JSON', () => {
  assert.deepEqual(
    PAGES.filter(({ to }) => isApiPath(to)),
    [],
  )
})
