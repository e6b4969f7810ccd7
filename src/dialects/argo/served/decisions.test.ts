import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../../../client/client.ts'
import { ApiError } from '../../../core/errors.ts'
import { readDecisions } from './decisions.ts'

const CONFIG_MAP = { metadata: { name: 'by' }, data: { apiVersion: 'example.com/v1', kind: 'decisions' } }

/** A client with pages of a list; a page that is undefined is refused. */
function clientOf(pages: readonly (readonly string[] | undefined)[]): Client {
  return {
    get: async () => CONFIG_MAP,
    list: async (_type: unknown, { continue: token = '0' }: { readonly continue?: string }) => {
      const at = Number.parseInt(token, 10)
      const names = pages[at]
      if (!names) throw new ApiError('Forbidden', 'no')
      const items = names.map((name) => ({ metadata: { name } }))
      return { items, resourceVersion: '1', ...(at + 1 < pages.length ? { continue: `${at + 1}` } : {}) }
    },
  } as unknown as Client
}

const read = async (client: Client) => {
  const objects = await readDecisions(client, { namespace: 'n', configMaps: ['by'] }, new AbortController().signal)
  return objects.slice(1).map(({ metadata }) => (metadata as { readonly name: string }).name)
}

test('all pages of the decisions are read', async () => {
  assert.deepEqual(await read(clientOf([['a', 'b'], ['c'], ['d']])), ['a', 'b', 'c', 'd'])
})

test('a kind that may not be read has no decisions; a list that breaks off is an error', async () => {
  assert.deepEqual(await read(clientOf([undefined])), [])
  await assert.rejects(read(clientOf([['a'], undefined])), /no/)
})
