import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../core/errors.ts'
import { readIfAllowed } from './read-if-allowed.ts'

test('a refusal is kept, and is not an empty list', async () => {
  assert.deepEqual(await readIfAllowed('clusters', Promise.resolve(['a'])), { items: ['a'] })
  const refused = Promise.reject(new ApiError('Forbidden', 'no'))
  assert.deepEqual(await readIfAllowed('clusters', refused), { items: [], refused: 'clusters' })
  assert.deepEqual(await readIfAllowed('windows', Promise.reject(new ApiError('NotFound', 'no'))), { items: [] })
  await assert.rejects(readIfAllowed('clusters', Promise.reject(new Error('socket hang up'))), /socket/)
})
