# Read estimates and a lake of fldp: Rscript estimates.R estimates.parquet [lake]
# Needs the packages arrow and dplyr: install.packages(c("arrow", "dplyr"))

library(arrow)
library(dplyr, warn.conflicts = FALSE)

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) < 1) stop("usage: Rscript estimates.R estimates.parquet [lake]")

# A row for each value: its label, the estimated number of people, the standard error, and an interval.
estimates <- read_parquet(arguments[1]) |>
  select(value, label, count, frequency, stderr, low, high) |>
  arrange(desc(count))
print(as.data.frame(estimates), digits = 4)

# Estimates of rare values may be below zero. That is noise, and cutting it off would bend every sum.
cat(sum(estimates$count < 0), "of", nrow(estimates), "estimates are below zero\n")

if (length(arguments) > 1) {
  # Folders are named survey=... and day=..., which become columns. What is left are the columns of the oracle.
  lake <- open_dataset(arguments[2], hive_style = TRUE)
  print(as.data.frame(lake |> count(survey, day) |> arrange(day) |> collect()))

  # Of grr and its like a report is one number, and the tally is how often each occurs.
  if ("symbol" %in% names(lake)) {
    print(as.data.frame(lake |> count(symbol) |> arrange(symbol) |> collect()))
  }
}
