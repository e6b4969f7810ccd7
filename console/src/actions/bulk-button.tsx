/** A button for an action on several clusters: names them, asks once, and tells which could not be changed. */
import * as Dialog from '@radix-ui/react-dialog'
import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useSession } from '../data/access.ts'
import { read, send } from '../data/api.ts'
import { hubNow } from '../data/live-state.ts'
import { queries } from '../data/queries.ts'
import { notify } from '../ui/notices.ts'
import { Button, Command } from '../ui/parts.tsx'
import type { BulkAction } from './bulk-actions.ts'
import { carryOutAll } from './carry-out-all.ts'
import { ReasonField } from './reason-field.tsx'

const MAX_NAMED = 30

export function BulkButton({ action }: { readonly action: BulkAction }) {
  const [isOpen, setOpen] = useState(false)
  // The dialog is about the clusters that it was opened with, whatever arrives meanwhile.
  const [opened, setOpened] = useState(action)
  const { sample, names } = action
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Button
        look={sample.look}
        right={{ verb: sample.right.verb, resource: sample.right.resource, namespace: sample.right.namespace }}
        onClick={() => {
          setOpened(action)
          setOpen(true)
        }}
      >
        {sample.title} {names.length}…
      </Button>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog">
          <BulkForm action={opened} close={() => setOpen(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function BulkForm({ action, close }: { readonly action: BulkAction; readonly close: () => void }) {
  const { sample, names, typed: wanted, actionFor } = action
  const session = useSession()
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const [count, setCount] = useState(0)
  const typedId = useId()
  const clusters = `${names.length} ${names.length === 1 ? 'cluster' : 'clusters'}`
  const act = useMutation({
    mutationFn: async () => {
      const { username = '', groups = [] } = session ?? {}
      const asking = { username, groups, reason, nowMs: hubNow() }
      return await carryOutAll(names, actionFor, { asking, requests: { send, read }, told: setCount })
    },
    onSuccess: ({ done, failed, auditId }) => {
      if (done.length > 0) notify(`${sample.title}: done on ${done.length} of ${clusters}.`, auditId)
      if (failed.length === 0) close()
      return queries.invalidateQueries()
    },
  })
  const isReady =
    session !== undefined &&
    !act.isPending &&
    !act.isSuccess &&
    (sample.asks !== 'requiredReason' || reason.trim() !== '') &&
    (wanted === undefined || typed === wanted)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) act.mutate()
      }}
    >
      <Dialog.Title>
        {sample.title} {clusters}
      </Dialog.Title>
      <Dialog.Description>For each of them: {sample.effect}</Dialog.Description>
      <ul className="plan" aria-label="Clusters">
        <li>
          {names.slice(0, MAX_NAMED).join(', ')}
          {names.length > MAX_NAMED && ` and ${names.length - MAX_NAMED} more`}
        </li>
      </ul>
      <ReasonField asks={sample.asks} value={reason} onChange={setReason} />
      {wanted !== undefined && (
        <label htmlFor={typedId}>
          Type <strong>{wanted}</strong>, the number of clusters, to confirm
          <input
            id={typedId}
            value={typed}
            inputMode="numeric"
            autoComplete="off"
            onChange={({ target }) => setTyped(target.value)}
          />
        </label>
      )}
      {act.isPending && (
        <p role="status">
          {count} of {clusters}…
        </p>
      )}
      {act.data && act.data.failed.length > 0 && (
        <div className="failure" role="alert">
          <strong>{act.data.failed.length} could not be changed.</strong>
          <ul>
            {act.data.failed.slice(0, MAX_NAMED).map(({ name, message }) => (
              <li key={name}>
                {name}: {message}
              </li>
            ))}
          </ul>
        </div>
      )}
      <Command>{action.command(reason)}</Command>
      <p className="actions">
        <button type="submit" className={`button ${sample.look === 'danger' ? 'danger' : 'main'}`} disabled={!isReady}>
          {sample.title}
        </button>
        <Button onClick={close}>{act.isSuccess ? 'Close' : 'Cancel'}</Button>
      </p>
    </form>
  )
}
