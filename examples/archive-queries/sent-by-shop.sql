-- What a shop sent in the last week: each event once, however often it was delivered and with any outcome.
-- The shop's id goes where the capitals are, with '' for each ' in it; one of more than 2,048 bytes is kept as its hash.
SELECT
  event_id,
  event,
  max(sent_at) AS sent_at,
  min(received_at) AS received_at,
  count(DISTINCT request_id) AS deliveries,
  CASE
    WHEN bool_or(outcome = 'Processed') THEN 'Processed'
    ELSE max_by(outcome, settled_at)
  END AS outcome,
  max(payload_key) AS payload_key,
  max(body) AS body
FROM records
WHERE "date" >= date_format(current_date - INTERVAL '7' DAY, '%Y-%m-%d')
  AND shop_id = 'SHOP_ID'
  AND replay.name IS NULL
GROUP BY event_id, event
ORDER BY received_at, event_id
