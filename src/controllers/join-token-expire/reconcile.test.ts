import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JoinToken } from '../../kinds/native/join-token.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import { joinTokenExpireReconciler } from './reconcile.ts'

const token = (expiresAt: string, used: number) =>
  build(JoinToken, 'x', {
    spec: { tokenHash: 'a'.repeat(64), expiresAt, uses: 2, labels: {}, accept: 'Auto' },
    status: { used },
  })

test('valid, expired, used up', async () => {
  const table: [string, number, string, number | undefined][] = [
    ['2026-01-01T00:01:00Z', 0, 'True Valid: Valid until 2026-01-01T00:01:00Z.', 60_000],
    [
      '2026-01-01T00:00:00Z',
      0,
      'False Expired: Expired at 2026-01-01T00:00:00Z; make another: flotilla cluster add NAME',
      undefined,
    ],
    [
      '2026-01-01T00:01:00Z',
      2,
      'False UsedUp: All 2 uses are spent; make another: flotilla cluster add NAME',
      undefined,
    ],
    ['2027-01-01T00:00:00Z', 0, 'True Valid: Valid until 2027-01-01T00:00:00Z.', 24 * 24 * 3600 * 1000],
  ]
  for (const [expiresAt, used, expected, requeue] of table) {
    const pass = await reconcileOnce(joinTokenExpireReconciler(), token(expiresAt, used))
    assert.equal(pass.condition('Usable'), expected)
    assert.equal(pass.result?.requeueAfterMs, requeue)
  }
})

test('networks that cannot be read, and patterns that accept no cluster by themselves, are shown', async () => {
  const usable = async (spec: Partial<JoinToken['spec']>) => {
    const { spec: base } = token('2026-01-01T00:01:00Z', 0)
    const built = build(JoinToken, 'x', { spec: { ...base, ...spec } })
    return (await reconcileOnce(joinTokenExpireReconciler(), built)).condition('Usable')
  }
  assert.match(await usable({ networks: ['10.8.0.1/16'] }), /^False BadNetwork: No network: 10\.8\.0\.1\/16/)
  assert.match(await usable({ accept: 'Networks', acceptNetworks: ['10.0.0.0/99'] }), /^False BadNetwork/)
  assert.match(await usable({ networks: ['10.8.0.0/16'] }), /^True Valid: [^.]*\.$/)
  assert.match(await usable({ namePattern: 'a*' }), /^True Valid: .* a person accepts\.$/)
})
