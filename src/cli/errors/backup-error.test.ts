import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Stalled } from '../../core/errors.ts'
import { withBackupErrors } from './backup-error.ts'
import { CliError } from './cli-error.ts'

test('what the hub’s code refuses is told in four lines, with an exit code of its own', async () => {
  const cases = [
    ['NoDatabase', 'd has no hub.db: name the data directory of an embedded hub', 2, 'it has no hub.db', 'd'],
    ['NotEmpty', 'b is there already: give the backup a new name', 2, 'it is there already'],
    [
      'NoBackup',
      'b cannot be read (ENOENT: no such file): name the file of a backup',
      3,
      'it cannot be read (ENOENT: no such file)',
    ],
    [
      'BackupDamaged',
      'b is damaged: it ends in the middle; use another backup',
      1,
      'it is damaged: it ends in the middle',
    ],
  ] as const
  for (const [reason, message, exit, why, where = 'b'] of cases) {
    const thrown: unknown = await withBackupErrors(['b', undefined, 'd'], async () => {
      throw new Stalled(reason, message)
    }).catch((caught: unknown) => caught)
    assert.ok(thrown instanceof CliError)
    assert.deepEqual([thrown.exitCode, thrown.trouble.where, thrown.trouble.why], [exit, where, why])
    assert.ok(thrown.trouble.todo)
  }
  assert.equal(await withBackupErrors(['b'], async () => 7), 7)
  await assert.rejects(
    withBackupErrors(['b'], async () => {
      throw new Stalled('Other', 'x')
    }),
    /^Stalled: x/,
  )
})
