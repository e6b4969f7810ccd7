/** A message of the hub in which times are shown as ages. */
import { Fragment } from 'react'
import { Age } from './time.tsx'

const TIME = /(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)/

export function Words({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(TIME).map((part, index) => (
        <Fragment key={`${index} ${part}`}>{index % 2 === 1 ? <Age at={part} suffix=" ago" /> : part}</Fragment>
      ))}
    </>
  )
}
