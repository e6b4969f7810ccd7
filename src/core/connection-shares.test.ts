import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createConnectionShares } from './connection-shares.ts'
import { networkOf } from './text/network-of.ts'

test('an address that holds all connections of a full listener makes room for others', () => {
  const shares = createConnectionShares<string>(4)
  for (const name of ['a1', 'a2', 'a3', 'a4']) assert.equal(shares.add('a', name), undefined)
  assert.equal(shares.add('a', 'a5'), 'a5', 'no room for the address that has all')
  assert.equal(shares.add('b', 'b1'), 'a4', 'the newest of the largest')
  assert.equal(shares.add('b', 'b2'), 'a3')
  assert.equal(shares.add('b', 'b3'), 'b3', 'equal shares stay')
  assert.equal(shares.add('c', 'c1'), 'a2')
  shares.remove('a', 'a1')
  assert.equal(shares.add('a', 'a6'), undefined, 'room again')
  shares.remove('b', 'unknown')
  assert.equal(shares.count(), 4)
})

test('property: never more than the limit, and a newcomer is refused only where no other address has two more', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(5), fc.boolean()), { maxLength: 200 }),
      fc.integer({ min: 1, max: 12 }),
      (steps, max) => {
        const shares = createConnectionShares<string>(max)
        const open = new Map<string, string>()
        for (const [index, [who, opens]] of steps.entries()) {
          const network = `n${who}`
          if (!opens) {
            const own = [...open].find(([, one]) => one === network)?.[0]
            if (own !== undefined && open.delete(own)) shares.remove(network, own)
            continue
          }
          const name = `c${index}`
          const wasFull = shares.count() === max
          const loser = shares.add(network, name)
          if (loser !== name) open.set(name, network)
          if (loser !== undefined) open.delete(loser)
          assert.equal(shares.count(), open.size)
          assert.ok(open.size <= max)
          assert.equal(loser !== undefined, wasFull)
          const most = Math.max(...[0, 1, 2, 3, 4, 5].map((one) => shares.countOf(`n${one}`)))
          if (loser === name) assert.ok(most <= shares.countOf(network) + 1)
        }
      },
    ),
  )
})

test('an IPv4 address in IPv6 is the same client, and so is a network of 64 bits', () => {
  assert.equal(networkOf('::ffff:10.0.0.1'), networkOf('10.0.0.1'))
  assert.equal(networkOf('2001:db8::1'), networkOf('2001:db8:0:0:ffff::9'))
  assert.notEqual(networkOf('2001:db8:0:1::1'), networkOf('2001:db8::1'))
  assert.equal(networkOf('fe80::1%eth0'), networkOf('fe80::2'))
  assert.equal(networkOf(''), '')
})
