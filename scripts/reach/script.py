def slow(row):
    return sum(i ^ row for i in range(100000))


print(sum(slow(row) for row in range(60)))
